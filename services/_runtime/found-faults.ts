import { type Fault, maxFaults } from "@pragma/contracts/errors";
import type { z } from "zod";
import { type FaultyBody, faultsOf, maxCounted } from "./faults.ts";

/** Gathers the faults of a body that is checked part by part: keeps those that a reply lists, and counts all. */
export class FoundFaults implements FaultyBody {
  readonly faults: Fault[] = [];
  count = 0;

  /** What a schema found in the part that is at `path`. */
  addFound(error: z.ZodError | undefined, part: unknown, path: string): void {
    if (!error) return;
    for (const fault of faultsOf("body", error, part)) this.#list({ ...fault, path: joined(path, fault.path) });
    this.count += error.issues.length;
  }

  add(fault: Omit<Fault, "in">): void {
    this.#list({ in: "body", ...fault });
    this.count += 1;
  }

  /** Whether there are so many that no reply tells one more from one less. */
  get arePlenty(): boolean {
    return this.count > maxCounted;
  }

  #list(fault: Fault): void {
    if (this.faults.length < maxFaults) this.faults.push(fault);
  }
}

function joined(outer: string, inner: string): string {
  if (outer === "" || inner === "") return outer + inner;
  return inner.startsWith("[") ? outer + inner : `${outer}.${inner}`;
}
