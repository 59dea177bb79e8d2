# An image that checks a project of the host, without a GPU. From the wheel of `make wheel`, which lies in dist:
#
#     docker build --tag oomph .
#     docker run --rm --volume "$PWD:/work" oomph check --gpu rtx-4090 train.py
#     docker run --rm --interactive oomph explain - < crash.log
#
# TORCH is the version of PyTorch for check, fit and sweep, a build for CUDA (5 GB); TORCH= leaves it out: explain and lint need none.
# A project with packages of its own: FROM oomph, USER root, RUN pip install …, USER oomph.
FROM python:3.12-slim-bookworm

ARG TORCH=2.11.0
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
RUN if [ -n "$TORCH" ]; then pip install "torch==$TORCH" numpy==2.4.6; fi
RUN --mount=type=bind,source=dist,target=/dist pip install --no-index /dist/oomph-*.whl

# Any user may write here: --user "$(id -u)" makes the files of a project the host's.
ENV OOMPH_CACHE_DIR=/var/cache/oomph
RUN useradd --create-home oomph && install --directory --mode=1777 /var/cache/oomph /work
USER oomph
WORKDIR /work
ENTRYPOINT ["oomph"]
CMD ["--help"]
