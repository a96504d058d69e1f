import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageFolder } from "@pragma/runtime/package-folder";

const root = join(packageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const tryIt = join(root, "docs-portal", "src", "try-it");

/** What a reader has typed in, as the form beside an operation has it. */
interface Inputs {
  server: string;
  key: string;
  parameters: Record<string, string>;
  body?: string;
}

interface Operation {
  operationId: string;
  method: string;
  path: string;
}

/** The parts of the site that make samples. */
interface Maker {
  composeRequest(operation: Operation, inputs: Inputs): unknown;
  replyKindOf(operation: Operation): unknown;
  sampleLanguages: { id: string; label: string; write(sample: { request: unknown; replies: unknown }): string }[];
  replyFile: string;
}

const maker: Maker = Object.assign(
  {},
  ...(await Promise.all(
    ["compose-request.ts", "operation.ts", "samples/samples.ts", "samples/sample.ts"].map(
      (file) => import(pathToFileURL(join(tryIt, file)).href),
    ),
  )),
);

/** How the samples of a language are run: what they are saved as, and with what program. */
const programs: Record<string, { file: string; command: string; args: string[] }> = {
  curl: { file: "sample.sh", command: "sh", args: [] },
  typescript: { file: "sample.mts", command: process.execPath, args: ["--import", import.meta.resolve("tsx")] },
  python: { file: "sample.py", command: "python3", args: [] },
  php: { file: "sample.php", command: "php", args: ["-d", "display_errors=stderr"] },
};

/** Milliseconds after which a sample is ended. */
const longest = 20_000;

const isHere = (command: string) => spawnSync(command, ["--version"]).status === 0;

export type Language = Maker["sampleLanguages"][number];

/** The languages of the samples that this machine has a program for. */
export const languagesHere: Language[] = maker.sampleLanguages.filter(({ id }) =>
  isHere(id === "curl" ? "curl" : (programs[id]?.command ?? id)),
);

const document = JSON.parse(readFileSync(join(root, "contracts", "openapi.json"), "utf8"));
const operations: Operation[] = Object.entries<Record<string, object>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation }) as Operation),
);

export interface RunningSample {
  /** Rejects with what it told when it fails. `saved` is the file that it made, if it did. */
  run(): Promise<{ output: string; saved: Buffer | undefined }>;
  /** Ends it once its output has this text. */
  runUntil(text: string): Promise<void>;
}

/** The sample of an operation as the reference shows it for these inputs. */
export function sampleOf(language: Language, operationId: string, inputs: Inputs): RunningSample {
  const operation = operations.find((each) => each.operationId === operationId);
  const program = programs[language.id];
  if (!operation || !program) throw new Error(`There is no ${operationId}, or nothing to run ${language.label} with.`);
  const request = maker.composeRequest(operation, inputs);
  const text = language.write({ request, replies: maker.replyKindOf(operation) });

  async function play(isEnough: (output: string) => boolean): Promise<{ output: string; saved: Buffer | undefined }> {
    const folder = mkdtempSync(join(tmpdir(), "pragma-sample-"));
    try {
      const { file, command, args } = program as NonNullable<typeof program>;
      writeFileSync(join(folder, file), text);
      if (inputs.body !== undefined) writeFileSync(join(folder, "body.json"), inputs.body);
      // Nothing of the environment but the path: a proxy would be asked for the product. A group of its own, so that
      // what a shell starts ends with the shell.
      const env = { PATH: process.env.PATH };
      const child = spawn(command, [...args, file], { cwd: folder, env, detached: true });
      const end = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
      const deadline = setTimeout(end, longest);
      let output = "";
      let told = "";
      child.stderr.on("data", (part) => {
        told += part;
      });
      child.stdout.on("data", (part) => {
        output += part;
        if (isEnough(output)) end();
      });
      const [code] = await once(child, "close");
      clearTimeout(deadline);
      if (code !== 0 && !isEnough(output)) throw new Error(`The sample failed:\n${text}\n\n${output}${told}`);
      const reply = join(folder, maker.replyFile);
      return { output, saved: existsSync(reply) ? readFileSync(reply) : undefined };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  return {
    run: () => play(() => false),
    runUntil: async (wanted) => {
      const { output } = await play((soFar) => soFar.includes(wanted));
      if (!output.includes(wanted)) throw new Error(`The sample ended, and told nothing of ${wanted}:\n${output}`);
    },
  };
}
