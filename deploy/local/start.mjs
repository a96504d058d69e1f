/** `npm start`: everything that a checkout needs to run, until Ctrl-C. */
import "./node-version.mjs";

// Only now, because an older Node.js could not even link the rest.
const { runUntilStopped } = await import("./run-until-stopped.mjs");
await runUntilStopped(async (fail) => {
  const { startCheckout } = await import("./start.ts");
  return startCheckout(fail);
});
