# The daemon as an image: the program, Node, and the libraries that Node needs. It has no shell and no npm.
# BASE is any image with glibc, Node 24, npm and a shell. Only its Node and these libraries become a part of the image.
#   docker build --build-arg BASE=node:24-slim --tag docshelf .
ARG BASE=node:24-slim

FROM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY src src
COPY scripts/*.mjs scripts/*.ts scripts/
RUN node scripts/build.mjs && node scripts/copy-assets.mjs && node scripts/write-built-files.mjs

FROM ${BASE} AS root
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# The optional dependencies are Node itself, for machines with an older Node. The base has Node 24.
RUN npm ci --omit=dev --omit=optional
COPY scripts/outside.ts scripts/prune-packages.mjs ./
RUN node prune-packages.mjs
COPY LICENSE NOTICE ./
COPY models models
COPY --from=build /build/dist dist
COPY scripts/image-root.mjs scripts/image-parts.ts ./
RUN node image-root.mjs /image

# The release images have the configuration of this stage (scripts/release/image.ts).
FROM scratch
COPY --from=root /image /
# A new volume gets its owner from the data folder.
COPY --from=root --chown=65532:65532 /image-owned/ /var/lib/
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="docshelf" \
      org.opencontainers.image.description="The self-hosted home of documentation bundles" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://docshelf.example" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
WORKDIR /opt/docshelf
ENV PATH=/usr/local/bin:/usr/bin \
    NODE_ENV=production \
    DOCSHELF_CONFIG=/etc/docshelf/config.yaml \
    DOCSHELF__STORAGE__DIR=/var/lib/docshelf
USER 65532:65532
EXPOSE 8080 8081 9090
VOLUME /var/lib/docshelf
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["docshelf", "healthcheck"]
ENTRYPOINT ["docshelf"]
CMD ["serve"]
