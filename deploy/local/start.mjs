/** `npm start`: installs packages, starts the servers, the product and the documentation, and runs until Ctrl-C. */
import "./node-version.mjs";

// Imported dynamically, after the version check, because an older Node.js cannot load these modules.
const { exitWithUsageIfAny } = await import("./start-usage.mjs");
exitWithUsageIfAny(process.argv.slice(2));
const { runProgramUntilStopped } = await import("./run-until-stopped.mjs");
const { ensureStartPackagesInstalled } = await import("./setup.mjs");
await runProgramUntilStopped(
  async (fail) => {
    const { startLocalInstallation } = await import("./start.ts");
    return startLocalInstallation(fail);
  },
  { installPackages: ensureStartPackagesInstalled },
);
