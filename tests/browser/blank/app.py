"""The least that Streamlit can show: what a page costs before anything of ours is on it."""

import streamlit as st

st.set_page_config(layout="wide")
st.text("Nothing else.")
