"""What paging replaced: one contiguous piece of memory for each request."""

from sim.contiguous.reservation import Reservation
from sim.contiguous.run import ContiguousRun, reserve

__all__ = ["ContiguousRun", "Reservation", "reserve"]
