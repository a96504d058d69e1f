import { parseArgs } from "node:util";
import { LocalCommandUserError } from "../deploy/local/terminal.mjs";

export interface BenchOptions {
  /** Ids of the benchmarks to run; undefined runs all benchmarks. */
  only: string[] | undefined;
  /**
   * Whether to run fewer and shorter repetitions with a smaller order history. The figures of such a quick run are not
   * reliable, so the run shows only that the benchmarks work.
   */
  quick: boolean;
  /** Whether the product's processes write CPU profiles. */
  profile: boolean;
  /** The path of an earlier version's compiled program (`build/services/main.js`), which some benchmarks measure too. */
  before: string | undefined;
}

const optionDefinitions = {
  only: { type: "string" },
  quick: { type: "boolean", default: false },
  profile: { type: "boolean", default: false },
  before: { type: "string" },
} as const;

/** Returns the options of a command line. @throws LocalCommandUserError with the usage if an option is invalid. */
export function readBenchOptions(args: string[], ids: string[]): BenchOptions {
  const usage = `npm run bench -- [--only <benchmarks, separated by commas>] [--quick] [--profile] [--before <earlier build/services/main.js>]; the benchmarks are ${ids.join(", ")}.`;
  const { values } = parseOrFail(() => parseArgs({ args, options: optionDefinitions }), usage);
  const only = values.only?.split(",").map((id) => id.trim());
  const unknown = only?.filter((id) => !ids.includes(id)) ?? [];
  if (unknown.length > 0) throw new LocalCommandUserError(`There is no benchmark ${unknown.join(", ")}.\n${usage}`);
  return { only, quick: values.quick, profile: values.profile, before: values.before };
}

function parseOrFail<Parsed>(parse: () => Parsed, usage: string): Parsed {
  try {
    return parse();
  } catch (error) {
    throw new LocalCommandUserError(`${(error as Error).message}\n${usage}`);
  }
}
