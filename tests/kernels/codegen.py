"""What Triton makes of the decode kernel for an H200, found without one.

`python -m tests.kernels.codegen` compiles it for sm_90 with each of the shipped configs and prints
one JSON line for each. It needs a process of its own, without TRITON_INTERPRET.
"""

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from kernels.config import Config
from kernels.decode import _decode
from kernels.plan import NO_WINDOW

TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
POINTERS = {
    "partial_out_ptr": "*fp32",
    "partial_state_ptr": "*fp32",
    "programs_ptr": "*i64",
    "tiles_ptr": "*i64",
    "states_ptr": "*fp32",
}
FLIGHT = ("programs_ptr", "tiles_ptr", "blocks_ptr", "states_ptr")
NOT_GIVEN = ("lse_ptr", "alibi_ptr", "k_scale_ptr", "v_scale_ptr")
FLOATS = ("scale", "value_scale", "soft_cap")


@dataclass(frozen=True)
class Case:
    """A kernel as it is launched: the dtypes, the config, the shape."""

    name: str
    config: Config
    cache: str = "bf16"
    block_size: int = 16
    group_size: int = 4
    head_size: int = 128
    trace: bool = False


CASES = (
    Case("short", Config(64, 4, 3, 1)),
    Case("one wave", Config(128, 4, 3, 1)),
    Case("many sequences", Config(64, 4, 4, 2)),
    Case("group of 7", Config(128, 4, 3, 1), group_size=7),
    Case("blocks of 1", Config(64, 4, 4, 2), block_size=1),
    Case("float8, one sequence", Config(128, 8, 3, 1), cache="u16"),
    Case("float8", Config(128, 4, 3, 2), cache="u16"),
    Case("recorded", Config(64, 4, 3, 1), trace=True),
)


def compiled(case: Case) -> Any:
    """The kernel for sm_90, its strides known to be multiples of 16 as they are on a real cache."""
    dtype = "bf16" if case.cache == "u16" else case.cache
    constants = _constants(case)
    none = NOT_GIVEN if case.trace else NOT_GIVEN + FLIGHT
    signature, constexprs, attributes = {}, {}, {}
    for place, name in enumerate(_decode.arg_names):
        if name in constants or name in none:
            signature[name], constexprs[place,] = "constexpr", constants.get(name)
        elif name.endswith("_ptr"):
            kind = {"out_ptr": dtype, "query_ptr": dtype}.get(name, "i32")
            kind = case.cache if "cache" in name else kind
            signature[name] = POINTERS.get(name, f"*{kind}")
            attributes[place,] = [["tt.divisibility", 16]]
        else:
            signature[name] = "fp32" if name in FLOATS else "i32"
            if name.startswith(("key_stride", "value_stride")):
                attributes[place,] = [["tt.divisibility", 16]]
    source = ASTSource(_decode, signature, constexprs, attributes)
    options = {"num_warps": case.config.num_warps, "num_stages": case.config.num_stages}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)


def _constants(case: Case) -> dict[str, Any]:
    columns = case.head_size // 2 if case.cache == "u16" else case.head_size
    return {
        "GROUP_SIZE": case.group_size,
        "HEAD_SIZE": case.head_size,
        "COLUMNS": columns,
        "BLOCK_SIZE": case.block_size,
        "BLOCK_M": 16,
        "BLOCK_D": columns,
        "TILE_SIZE": case.config.tile_size,
        "WINDOW": NO_WINDOW.value,
        "SOFT_CAP": False,
        "ONE_LAYOUT": True,
        "E5M2": False,
        "PDL": "late",
        "INTERPRET": False,
        "TRACE": case.trace,
    }


def facts(case: Case) -> dict[str, Any]:
    """What the speed rests on, read from the compiler's outputs."""
    kernel = compiled(case)
    layout, ptx = kernel.asm["ttgir"], kernel.asm["ptx"]
    start = layout.index("scf.for")
    loop = layout[start : layout.index("scf.yield", start)]
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        usage = _tool("cuobjdump", "--dump-resource-usage", file.name)
        sass = _tool("nvdisasm", file.name)
    rows = rf"(\d+)x{case.config.tile_size}x"
    return {
        "name": case.name,
        "buffers": [int(n) for n in re.findall(rf"local_alloc : \(\).*memdesc<{rows}", layout)],
        "waits": [int(n) for n in re.findall(r"async_wait.*num = (\d+)", loop)],
        "copies": len(re.findall("async_copy_global_to_local", loop)),
        "copy_bytes": sorted({int(n, 16) for n in re.findall(r"cp\.async.*?\], (0x\w+)", ptx)}),
        "stack": int(re.findall(r"STACK:(\d+)", usage)[0]),
        "spills": len(re.findall(r"\b(?:STL|LDL)\b", sass)),
        "byte_loads": len(re.findall(r"\bLDS\.U8\b", sass)),
        "shared": kernel.metadata.shared,
        "registers": int(re.findall(r"REG:(\d+)", usage)[0]),
        "clock": "%globaltimer" in ptx,
    }


def _tool(name: str, *arguments: str) -> str:
    return subprocess.run([TOOLS / name, *arguments], capture_output=True, text=True).stdout


if __name__ == "__main__":
    for case in CASES:
        print(json.dumps(facts(case)), flush=True)
