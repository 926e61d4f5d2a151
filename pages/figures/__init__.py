"""Pure figures: a frame or numbers in, a picture out."""
