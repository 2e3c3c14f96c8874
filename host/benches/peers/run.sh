#!/usr/bin/env bash
# Measures ppsrig beside other programs: run.sh [--full]. Builds both sides below build/, then compare.py does the rest.
# PPSRIG_PEERS is a Python that has the peers already. `just benchmark` calls this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
python=${PPSRIG_PEERS:-}
if [ -z "$python" ]; then
    python=$PWD/build/peers/bin/python
    if ! [ -x "$python" ]; then
        python3 -m venv build/peers
    fi
    "$python" -m pip install --quiet --disable-pip-version-check -r host/benches/peers/requirements.txt
fi
cargo build --release -p ppsrig --bin ppsrig --example calls
# One thread on each side.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 POLARS_MAX_THREADS=1
exec "$python" host/benches/peers/compare.py "$@"
