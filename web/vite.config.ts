import { defineConfig } from "vite";

// DAVIT_URL names a running davit (or the fake host of test/fake) for `npm run dev`.
const host = process.env.DAVIT_ORIGIN ?? "http://127.0.0.1:7420";

export default defineConfig(({ mode }) => ({
	define: {
		// The gallery is in development builds only (spec interfaces A4).
		__GALLERY__: JSON.stringify(mode !== "production"),
	},
	build: {
		target: "es2022",
		// public/.keep lands in dist, where Go wants a file even without a page.
		emptyOutDir: true,
		sourcemap: false,
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		reportCompressedSize: true,
	},
	server: {
		host: "127.0.0.1",
		proxy: { "/v1": { target: host, ws: true } },
	},
}));
