# Traitbench as an image: `docker build -t traitbench .`, then
# `docker run -p 127.0.0.1:8501:8501 -v traitbench:/data traitbench`, which prints a link that signs you in.
# compose.yaml runs the API, workers, the workbench, PostgreSQL and a proxy from it.

FROM python:3.13-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN make wheel OUT=/wheels
# The locked versions, by their hashes, and none of the tools that build. Compiled here, because the files are read-only.
RUN python3 -m venv /opt/traitbench \
    && .venv/bin/uv pip install --no-cache --compile-bytecode --python /opt/traitbench/bin/python \
        --constraint requirements.txt /wheels/traitbench_client-*.whl /wheels/traitbench_minilm-*.whl \
        "$(ls /wheels/traitbench-*.whl)[workbench,postgres,llm,otel]" \
    && /opt/traitbench/bin/python -m pip uninstall -y pip

FROM python:3.13-slim-bookworm
COPY --from=build /opt/traitbench /opt/traitbench
RUN useradd --uid 10001 --create-home traitbench && install -d -o traitbench -g traitbench -m 700 /data
USER traitbench
ENV PATH=/opt/traitbench/bin:$PATH PYTHONUNBUFFERED=1 \
    TRAITBENCH_HOME=/data TRAITBENCH_HOST=0.0.0.0 TRAITBENCH_PORT=8501 TRAITBENCH_SIGN_IN=token
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=2m \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/v1/health', timeout=4)"]
CMD ["traitbench"]
