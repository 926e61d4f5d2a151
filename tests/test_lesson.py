"""The lesson's numbers stand twice, as kernels and sim may not import each other: they are one."""

from kernels.presets import lesson
from sim.attention_input import LESSON


def test_the_kernels_lesson_is_the_simulators():
    job = lesson()
    assert job.block_tables == (tuple(LESSON.block_table),)
    assert job.seq_lens == (LESSON.seq_len,)
    assert job.block_size == LESSON.block_size
    assert [tuple(job.given.query)] == [tuple(q) for q in LESSON.queries]
    assert [tuple(k) for k in job.given.key] == [tuple(k) for k in LESSON.keys[0]]
    assert [tuple(v) for v in job.given.value] == [tuple(v) for v in LESSON.values[0]]
