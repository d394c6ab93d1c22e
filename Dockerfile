# Image of the daemon. BASE is an image with Node 24, npm, and a shell:
#   docker build --build-arg BASE=node:24-slim --tag docshelf .
ARG BASE=node:24-slim

FROM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY src src
COPY scripts/*.mjs scripts/
RUN node scripts/build.mjs && node scripts/copy-assets.mjs && node scripts/write-built-files.mjs

FROM ${BASE} AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Omit the optional dependencies: they contain Node for machines with an older version, and the base image has Node 24.
RUN npm ci --omit=dev --omit=optional
COPY scripts/outside.mjs scripts/prune-packages.mjs ./
RUN node prune-packages.mjs

FROM ${BASE}
WORKDIR /opt/docshelf
COPY package.json ./
COPY --from=dependencies /build/node_modules node_modules
COPY models models
COPY --from=build /build/dist dist
COPY --from=build /build/scripts/image-sbom.mjs ./
# A new volume gets the owner of this data folder.
RUN chmod +x dist/main.js && ln -s /opt/docshelf/dist/main.js /usr/local/bin/docshelf && \
    mkdir -p /etc/docshelf /var/lib/docshelf && chown 65532:65532 /var/lib/docshelf && \
    node image-sbom.mjs dist/sbom.json sbom.json
ENV NODE_ENV=production \
    DOCSHELF_CONFIG=/etc/docshelf/config.yaml \
    DOCSHELF__STORAGE__DIR=/var/lib/docshelf
USER 65532:65532
EXPOSE 8080 8081 9090
VOLUME /var/lib/docshelf
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["docshelf", "healthcheck"]
ENTRYPOINT ["docshelf"]
CMD ["serve"]
