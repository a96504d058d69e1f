/** `npm run check`: runs the static checks of the code. */
import "../node-version.mjs";

const { runProgramUntilStopped } = await import("../run-until-stopped.mjs");
await runProgramUntilStopped(
  async () => {
    const { runRepositoryChecks } = await import("./run-checks.ts");
    return (await runRepositoryChecks()).failed === 0 ? 0 : 1;
  },
  { stopExitCode: 1 },
);
