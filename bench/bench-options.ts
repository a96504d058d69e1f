import { parseArgs } from "node:util";
import { UserFacingError } from "../deploy/local/terminal.mjs";

export interface BenchOptions {
  /** Ids of the rows to measure; all when undefined. */
  only: string[] | undefined;
  /** Fewer and shorter repetitions, and a smaller history: to see that it works, not to judge by. */
  quick: boolean;
  /** Whether the product's processes write CPU profiles. */
  profile: boolean;
}

const optionDefinitions = {
  only: { type: "string" },
  quick: { type: "boolean", default: false },
  profile: { type: "boolean", default: false },
} as const;

/** Reads the command line. @throws Failure that says what is understood, when it says something else. */
export function readBenchOptions(args: string[], ids: string[]): BenchOptions {
  const usage = `npm run bench -- [--only <rows, with commas between them>] [--quick] [--profile]; the rows are ${ids.join(", ")}.`;
  const { values } = parseOrFail(() => parseArgs({ args, options: optionDefinitions }), usage);
  const only = values.only?.split(",").map((id) => id.trim());
  const unknown = only?.filter((id) => !ids.includes(id)) ?? [];
  if (unknown.length > 0) throw new UserFacingError(`There is no row ${unknown.join(", ")}.\n${usage}`);
  return { only, quick: values.quick, profile: values.profile };
}

function parseOrFail<Parsed>(parse: () => Parsed, usage: string): Parsed {
  try {
    return parse();
  } catch (error) {
    throw new UserFacingError(`${(error as Error).message}\n${usage}`);
  }
}
