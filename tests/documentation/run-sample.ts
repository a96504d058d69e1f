import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";

const repositoryFolder = join(findPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const tryItFolder = join(repositoryFolder, "docs-portal", "src", "try-it");

/** What a reader has typed in, as the form beside an operation has it. */
interface SampleInputs {
  server: string;
  key: string;
  parameters: Record<string, string>;
  body?: string;
}

interface SampleOperation {
  operationId: string;
  method: string;
  path: string;
}

/** The parts of the site that make samples. */
interface SampleGenerator {
  composeRequest(operation: SampleOperation, inputs: SampleInputs): unknown;
  responseKindOf(operation: SampleOperation): unknown;
  sampleLanguages: { id: string; label: string; write(sample: { request: unknown; responseKind: unknown }): string }[];
  responseFile: string;
}

const sampleGenerator: SampleGenerator = Object.assign(
  {},
  ...(await Promise.all(
    ["compose-request.ts", "operation.ts", "samples/samples.ts", "samples/sample.ts"].map(
      (file) => import(pathToFileURL(join(tryItFolder, file)).href),
    ),
  )),
);

/** How the samples of a language are run: what they are saved as, and with what program. */
const programsByLanguage: Record<string, { file: string; command: string; args: string[] }> = {
  curl: { file: "sample.sh", command: "sh", args: [] },
  typescript: { file: "sample.mts", command: process.execPath, args: ["--import", import.meta.resolve("tsx")] },
  python: { file: "sample.py", command: "python3", args: [] },
  php: { file: "sample.php", command: "php", args: ["-d", "display_errors=stderr"] },
};

/** Milliseconds after which a sample is ended. */
const sampleTimeoutMs = 20_000;

const isInstalled = (command: string) => spawnSync(command, ["--version"]).status === 0;

export type SampleLanguage = SampleGenerator["sampleLanguages"][number];

/** The languages of the samples that this machine has a program for. */
export const installedSampleLanguages: SampleLanguage[] = sampleGenerator.sampleLanguages.filter(({ id }) =>
  isInstalled(id === "curl" ? "curl" : (programsByLanguage[id]?.command ?? id)),
);

const openApiDocument = JSON.parse(readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"));
const sampleOperations: SampleOperation[] = Object.entries<Record<string, object>>(openApiDocument.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation }) as SampleOperation),
);

export interface RunnableSample {
  /** Rejects with what it told when it fails. `saved` is the file that it made, if it did. */
  run(): Promise<{ output: string; saved: Buffer | undefined }>;
  /** Ends it once its output has this text. */
  runUntil(text: string): Promise<void>;
}

/** The sample of an operation as the reference shows it for these inputs. */
export function createRunnableSample(
  language: SampleLanguage,
  operationId: string,
  inputs: SampleInputs,
): RunnableSample {
  const operation = sampleOperations.find((each) => each.operationId === operationId);
  const program = programsByLanguage[language.id];
  if (!operation || !program) throw new Error(`There is no ${operationId}, or nothing to run ${language.label} with.`);
  const request = sampleGenerator.composeRequest(operation, inputs);
  const text = language.write({ request, responseKind: sampleGenerator.responseKindOf(operation) });

  async function runProgram(
    isEnough: (output: string) => boolean,
  ): Promise<{ output: string; saved: Buffer | undefined }> {
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
      const deadline = setTimeout(end, sampleTimeoutMs);
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
      const reply = join(folder, sampleGenerator.responseFile);
      return { output, saved: existsSync(reply) ? readFileSync(reply) : undefined };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  return {
    run: () => runProgram(() => false),
    runUntil: async (wanted) => {
      const { output } = await runProgram((soFar) => soFar.includes(wanted));
      if (!output.includes(wanted)) throw new Error(`The sample ended, and told nothing of ${wanted}:\n${output}`);
    },
  };
}
