import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// What is built is committed: names of files are hashes of what is in them, and nothing
// of the machine or of the time is among it.
export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/v1': process.env.MANIFOLD_URL ?? 'http://127.0.0.1:8080' } },
  test: { include: ['src/**/*.test.{ts,tsx}'], environment: 'node' },
});
