// Written by `graphiti setup`, and removed by `graphiti setup --remove`.
//
// Forwards events of opencode to graphiti, and gives a new session the handoff of the last ones.
import { spawn } from "node:child_process"

const GRAPHITI = "graphiti"
// opencode never waits longer for a hook, in milliseconds.
const LIMIT = 2000

function hook(event) {
  return new Promise((resolve) => {
    let output = ""
    const child = spawn(GRAPHITI, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), LIMIT)
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(output).additionalContext)
      } catch {
        resolve(undefined)
      }
    }
    child.on("error", done)
    child.on("close", done)
    child.stdout.on("data", (data) => (output += data))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

export const Graphiti = async ({ directory }) => {
  // The handoffs of the sessions that this process started, by their ids.
  const handoffs = new Map()
  const subAgents = new Set()
  const forward = (hook_event_name, session_id, more) =>
    hook({ hook_event_name, session_id, cwd: directory, ...more })
  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      if (event.type === "session.created" && info.parentID) {
        subAgents.add(info.id)
      } else if (event.type === "session.created") {
        const cwd = info.directory ?? directory
        handoffs.set(info.id, forward("SessionStart", info.id, { source: "startup", cwd }))
      } else if (event.type === "session.deleted") {
        handoffs.delete(info.id)
      } else if (event.type === "session.idle" && !subAgents.has(sessionID)) {
        await forward("Stop", sessionID)
      }
    },
    // One process may have several sessions: the current one is that of the last prompt.
    "chat.message": async ({ sessionID }) => {
      if (subAgents.has(sessionID)) return
      // The hook of a prompt returns a handoff that was too late for the start.
      await handoffs.get(sessionID)
      const late = await forward("UserPromptSubmit", sessionID)
      if (late) handoffs.set(sessionID, late)
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      const handoff = await handoffs.get(sessionID)
      if (handoff) output.system.push(handoff)
    },
    "experimental.session.compacting": async ({ sessionID }) => void (await forward("PreCompact", sessionID)),
    // Commands of a session find it by this variable.
    "shell.env": async ({ sessionID }, output) => {
      if (sessionID) output.env.GRAPHITI_OPENCODE_SESSION_ID = sessionID
    },
  }
}
