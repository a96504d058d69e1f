import { spawnSync } from "node:child_process";
import { canInstallDebianPackages, installDebianPackagesWithApt } from "../debian-packages.ts";
import { printLine } from "../terminal.mjs";

/** A program that runs code of the documentation in a language other than TypeScript, and how to install it on Debian. */
interface SampleRuntime {
  label: string;
  debianPackages: string[];
  find(): string | undefined;
}

/** Returns the first Python that has these modules. Debian's Python may have modules that the Python in PATH lacks. */
const findPythonWithModules = (...modules: string[]): string | undefined =>
  ["python3", "/usr/bin/python3"].find((python) => canRun(python, ["-c", `import ${modules.join(", ")}`]));

const canRun = (command: string, args: string[]): boolean => spawnSync(command, args).status === 0;

export type SampleRuntimeName = "php" | "flask" | "fastapi";

const sampleRuntimes: Record<SampleRuntimeName, SampleRuntime> = {
  php: { label: "PHP", debianPackages: ["php-cli"], find: () => (canRun("php", ["--version"]) ? "php" : undefined) },
  flask: { label: "Flask", debianPackages: ["python3-flask"], find: () => findPythonWithModules("flask") },
  fastapi: {
    label: "FastAPI and Uvicorn",
    debianPackages: ["python3-fastapi", "uvicorn"],
    find: () => findPythonWithModules("fastapi", "uvicorn"),
  },
};

/** Returns the command of PHP, or of a Python that has the framework. Returns undefined if it is not installed. */
export function findSampleRuntime(name: SampleRuntimeName): string | undefined {
  return sampleRuntimes[name].find();
}

/**
 * Installs the missing programs that run code of the documentation, if this process is root on Debian. If some are
 * still missing, prints which tests are skipped: these programs are optional.
 */
export async function installMissingSampleRuntimes(): Promise<void> {
  const missing = Object.values(sampleRuntimes).filter(({ find }) => find() === undefined);
  if (missing.length > 0 && canInstallDebianPackages()) {
    const packages = missing.flatMap(({ debianPackages }) => debianPackages);
    await installDebianPackagesWithApt("Installing PHP, Flask and FastAPI with apt-get", packages).catch((error) =>
      printLine(String(error)),
    );
  }
  for (const { label, find } of missing)
    if (find() === undefined) printLine(`${label} is not installed: the tests of its code samples are skipped.`);
}
