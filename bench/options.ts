import { parseArgs } from "node:util";
import { Failure } from "../deploy/local/terminal.mjs";

export interface Options {
  /** Ids of the rows to measure; all when undefined. */
  only: string[] | undefined;
  /** Fewer and shorter repetitions, and a smaller history: to see that it works, not to judge by. */
  quick: boolean;
  /** Whether the product's processes write CPU profiles. */
  profile: boolean;
}

const options = {
  only: { type: "string" },
  quick: { type: "boolean", default: false },
  profile: { type: "boolean", default: false },
} as const;

/** Reads the command line. @throws Failure that says what is understood, when it says something else. */
export function readOptions(args: string[], ids: string[]): Options {
  const usage = `npm run bench -- [--only <rows, with commas between them>] [--quick] [--profile]; the rows are ${ids.join(", ")}.`;
  const { values } = understood(() => parseArgs({ args, options }), usage);
  const only = values.only?.split(",").map((id) => id.trim());
  const unknown = only?.filter((id) => !ids.includes(id)) ?? [];
  if (unknown.length > 0) throw new Failure(`There is no row ${unknown.join(", ")}.\n${usage}`);
  return { only, quick: values.quick, profile: values.profile };
}

function understood<Parsed>(parse: () => Parsed, usage: string): Parsed {
  try {
    return parse();
  } catch (error) {
    throw new Failure(`${(error as Error).message}\n${usage}`);
  }
}
