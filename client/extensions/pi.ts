// Written by `graphiti setup`, and removed by `graphiti setup --remove`.
//
// Forwards events of Pi to graphiti, and gives a new session the handoff of the last ones.
import { spawn } from "node:child_process";

const GRAPHITI = "graphiti";
// Pi never waits longer for a hook, in milliseconds.
const LIMIT = 2000;

function hook(event: object): Promise<string | undefined> {
	return new Promise((resolve) => {
		let output = "";
		const child = spawn(GRAPHITI, ["hook", "pi"], { stdio: ["pipe", "pipe", "ignore"] });
		const timer = setTimeout(() => child.kill(), LIMIT);
		const done = () => {
			clearTimeout(timer);
			try {
				resolve(JSON.parse(output).additionalContext);
			} catch {
				resolve(undefined);
			}
		};
		child.on("error", done);
		child.on("close", done);
		child.stdout.on("data", (data) => (output += data));
		child.stdin.on("error", () => {});
		child.stdin.end(JSON.stringify(event));
	});
}

export default function (pi: any) {
	let handoff: Promise<string | undefined> | undefined;

	const forward = async (hook_event_name: string, ctx: any, more: object = {}) => {
		const transcript_path = ctx.sessionManager.getSessionFile();
		// A session without a file is not recorded.
		if (!transcript_path) return undefined;
		const session_id = ctx.sessionManager.getSessionId();
		return hook({ hook_event_name, session_id, transcript_path, cwd: ctx.cwd, ...more });
	};

	pi.on("session_start", async (_event: any, ctx: any) => {
		// Commands of this session find it by this variable.
		process.env.GRAPHITI_PI_SESSION_ID = ctx.sessionManager.getSessionId();
		const isResumed = ctx.sessionManager.getEntries().some((entry: any) => entry.type === "message");
		handoff = forward("SessionStart", ctx, { source: isResumed ? "resume" : "startup" });
	});
	pi.on("before_agent_start", async (_event: any, ctx: any) => {
		// The hook of a prompt returns a handoff that was too late for the start.
		const content = (await handoff) ?? (await forward("UserPromptSubmit", ctx));
		handoff = undefined;
		if (content) return { message: { customType: "graphiti-handoff", content, display: false } };
	});
	pi.on("agent_end", async (_event: any, ctx: any) => void forward("Stop", ctx));
	pi.on("session_before_compact", async (_event: any, ctx: any) => void (await forward("PreCompact", ctx)));
	pi.on("session_shutdown", async (event: any, ctx: any) => {
		if (event.reason !== "reload") await forward("SessionEnd", ctx, { reason: event.reason });
	});
}
