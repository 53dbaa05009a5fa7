import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const backend = process.env.CHECKSTACK_DEV_BACKEND ?? "http://127.0.0.1:3000";

/**
 * Puts NAME.gz beside each built file above 1 kB, when it is smaller. The
 * server hands these out as they are and never compresses itself.
 */
function precompressed(): Plugin {
  let assets = "";
  return {
    name: "precompressed",
    apply: "build",
    configResolved(config) {
      assets = join(config.root, config.build.outDir, config.build.assetsDir);
    },
    closeBundle() {
      for (const name of readdirSync(assets)) {
        const content = readFileSync(join(assets, name));
        if (name.endsWith(".gz") || content.length <= 1024) continue;
        const zipped = gzipSync(content, { level: 9 });
        if (zipped.length < content.length) writeFileSync(join(assets, `${name}.gz`), zipped);
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), precompressed()],
  resolve: {
    alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) },
  },
  server: {
    proxy: { "/api": backend, "/rest": backend },
  },
  build: {
    target: "es2022",
    // The page's CSP allows scripts from its own origin only, so nothing may
    // be inlined into the document.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
    environment: "node",
  },
});
