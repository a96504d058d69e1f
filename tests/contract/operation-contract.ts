import type { ApiOperation, OperationOutcome } from "./api-operations.ts";
import type { ContractFixture } from "./contract-fixture.ts";

/** A request of an operation: what is put into its address, sent with it, and whose key it carries. */
export interface OperationRequest {
  path?: Record<string, string>;
  query?: Record<string, string>;
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The key of the world's shop, unless another is given; null for none. */
  key?: string | null;
}

/** Makes a request that has a certain outcome, and does before it what has to be done for that. */
export type OperationRequestBuilder = (world: ContractFixture) => OperationRequest | Promise<OperationRequest>;

/** How one operation keeps its contract. */
export interface OperationContract {
  /**
   * The request for each outcome that is this operation's own. The first of the successes is its ordinary request, from
   * which the requests for what any operation refuses are made.
   */
  requestsByOutcome: Partial<Record<OperationOutcome, OperationRequestBuilder>>;
  /** What the ordinary request is answered when it comes with another location's key that has every scope of a shop. */
  statusForOtherLocation?: number;
  /** Why an outcome that is documented cannot be provoked here. */
  untestableOutcomes?: Partial<Record<OperationOutcome, string>>;
}

/** The operations of a tag, by operation id. */
export type TagContract = Record<string, OperationContract>;

/** The ordinary request of an operation: that of its first success. */
export function successRequestBuilder(
  { id }: ApiOperation,
  contract: OperationContract | undefined,
): OperationRequestBuilder {
  const [first] = Object.keys(contract?.requestsByOutcome ?? {}).filter((outcome) => outcome.startsWith("2"));
  const asking = first && contract?.requestsByOutcome[first as OperationOutcome];
  if (!asking) throw new Error(`${id} has no contract: add it to the file of its tag.`);
  return asking;
}
