import type { Operation, Outcome } from "./operations.ts";
import type { World } from "./world.ts";

/** A request of an operation: what is put into its address, sent with it, and whose key it carries. */
export interface Ask {
  path?: Record<string, string>;
  query?: Record<string, string>;
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The key of the world's shop, unless another is given; null for none. */
  key?: string | null;
}

/** Makes a request that has a certain outcome, and does before it what has to be done for that. */
export type Asking = (world: World) => Ask | Promise<Ask>;

/** How one operation keeps its contract. */
export interface OperationContract {
  /**
   * The request for each outcome that is this operation's own. The first of the successes is its ordinary request, from
   * which the requests for what any operation refuses are made.
   */
  answers: Partial<Record<Outcome, Asking>>;
  /** What the ordinary request is answered when it comes with another location's key that has every scope of a shop. */
  stranger?: number;
  /** Why an outcome that is documented cannot be provoked here. */
  unreachable?: Partial<Record<Outcome, string>>;
}

/** The operations of a tag, by operation id. */
export type TagContract = Record<string, OperationContract>;

/** The ordinary request of an operation: that of its first success. */
export function ordinaryAsking({ id }: Operation, contract: OperationContract | undefined): Asking {
  const [first] = Object.keys(contract?.answers ?? {}).filter((outcome) => outcome.startsWith("2"));
  const asking = first && contract?.answers[first as Outcome];
  if (!asking) throw new Error(`${id} has no contract: add it to the file of its tag.`);
  return asking;
}
