// WebGL only where a real GPU answers: on a software renderer the DOM renderer is faster,
// and it is the one that tests and screen magnifiers see.
import { WebglAddon } from "@xterm/addon-webgl";
import type { Terminal } from "@xterm/xterm";

let real: boolean | undefined;

function realGpu(): boolean {
	const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
	if (!gl) return false;
	const info = gl.getExtension("WEBGL_debug_renderer_info");
	const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
	gl.getExtension("WEBGL_lose_context")?.loseContext();
	return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export function accelerate(terminal: Terminal): void {
	real ??= realGpu();
	if (!real) return;
	try {
		const addon = new WebglAddon();
		addon.onContextLoss(() => addon.dispose());
		terminal.loadAddon(addon);
	} catch {
		// The DOM renderer stays.
	}
}
