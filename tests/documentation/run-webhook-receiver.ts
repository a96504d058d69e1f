import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { eventually } from "@pragma/runtime/testing/eventually";
import { findFreePort } from "../../deploy/local/free-port.js";
import { findSampleRuntime, type SampleRuntimeName } from "../../deploy/local/testing/sample-runtimes.js";

const portalFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
);
const require = createRequire(import.meta.url);

/** The packages that readers install for the receivers in TypeScript. */
const nodePackages = ["express", "@types/express", "hono", "@hono/node-server", "@types/node"];

/** A webhook receiver of the documentation, and the command that runs it; undefined if the command is not installed. */
export interface WebhookReceiverProgram {
  name: string;
  /** Returns the command and its arguments, in a folder with the files of the documentation. */
  commandAt: ((port: number) => string[]) | undefined;
}

const tsx = [process.execPath, "--import", import.meta.resolve("tsx")];

/** Returns the command of a receiver that runs in an installed program; undefined if the program is not installed. */
function createCommand(runtime: SampleRuntimeName, createArguments: (port: number) => string[]) {
  const program = findSampleRuntime(runtime);
  return program === undefined ? undefined : (port: number) => [program, ...createArguments(port)];
}

export const webhookReceiverPrograms: WebhookReceiverProgram[] = [
  { name: "Express", commandAt: () => [...tsx, "express-receiver.ts"] },
  { name: "Hono", commandAt: () => [...tsx, "hono-receiver.ts"] },
  {
    name: "Flask",
    commandAt: createCommand("flask", (port) => ["-m", "flask", "--app", "flask_receiver", "run", "--port", `${port}`]),
  },
  {
    name: "FastAPI",
    commandAt: createCommand("fastapi", (port) => ["-m", "uvicorn", "fastapi_receiver:app", "--port", `${port}`]),
  },
  { name: "PHP", commandAt: createCommand("php", (port) => ["-S", `127.0.0.1:${port}`, "receiver.php"]) },
];

export interface RunningWebhookReceiver {
  url: string;
  /** Returns how often the receiver has processed the message with this id, according to its output. */
  countProcessed(messageId: string): number;
  stop(): Promise<void>;
}

/** Creates a folder with a receiver's files, as a reader would: the receivers, the verification and their packages. */
export function createWebhookReceiverFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pragma-receiver-"));
  cpSync(join(portalFolder, "snippets", "receivers"), folder, { recursive: true });
  for (const file of ["verify-webhook.ts", "verify_webhook.py", "verify-webhook.php"])
    cpSync(join(portalFolder, "snippets", file), join(folder, file));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  for (const name of nodePackages) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(findPackageFolder(name), link);
  }
  return folder;
}

/** Returns the folder of an installed package. Its `package.json` may not be among its exports. */
function findPackageFolder(name: string): string {
  const [folder] = (require.resolve.paths(name) ?? []).flatMap((parent) => {
    try {
      return [dirname(require.resolve(join(parent, name, "package.json")))];
    } catch {
      return [];
    }
  });
  if (folder === undefined) throw new Error(`The package ${name} is not installed.`);
  return folder;
}

/** Starts a receiver in a folder of its own, and waits until it accepts connections. */
export async function startWebhookReceiver(
  { name, commandAt }: WebhookReceiverProgram,
  secret: string,
): Promise<RunningWebhookReceiver> {
  const folder = createWebhookReceiverFolder();
  const port = await findFreePort();
  const [command, ...args] = commandAt?.(port) ?? [];
  if (command === undefined) throw new Error(`${name} is not installed.`);
  const env = { PATH: process.env.PATH, PRAGMA_WEBHOOK_SECRET: secret, PORT: String(port) };
  const child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part) => {
      output += part;
    });
  const url = `http://127.0.0.1:${port}/webhooks/pragma`;
  const stop = async () => {
    await killProcess(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually(`${name} to start`, async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}`);
      return (await fetch(url, { method: "POST" }).catch(() => undefined)) !== undefined;
    });
  } catch (error) {
    await stop();
    throw new Error(`${name} did not start:\n${output}`, { cause: error });
  }
  return {
    url,
    countProcessed: (messageId) =>
      output.split("\n").filter((line) => line.includes("Processed ") && line.includes(messageId)).length,
    stop,
  };
}

async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
