import type { ApiOperation, ApiOperationOutcome } from "./api-operations.ts";
import type { ApiContractFixture } from "./contract-fixture.ts";

/** The parameters, body, headers and API key of a request to an operation. */
export interface OperationRequest {
  path?: Record<string, string>;
  query?: Record<string, string>;
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** By default the API key of the fixture's location; null for none. */
  key?: string | null;
}

/** Returns a request with a certain outcome, after its preparations. */
export type OperationRequestBuilder = (fixture: ApiContractFixture) => OperationRequest | Promise<OperationRequest>;

/** The requests that test the contract of an operation. */
export interface OperationContract {
  /**
   * The request for each outcome of this operation. The first success is its success request, from which the requests
   * for the common errors are built.
   */
  requestsByOutcome: Partial<Record<ApiOperationOutcome, OperationRequestBuilder>>;
  /** The status of the success request with another location's API key that has all scopes. */
  statusForOtherLocation?: number;
  /** Why a documented outcome cannot be tested here. */
  untestableOutcomes?: Partial<Record<ApiOperationOutcome, string>>;
}

/** The contracts of the operations of a tag, by operation id. */
export type TagApiContract = Record<string, OperationContract>;

/** Returns the builder of an operation's success request. */
export function getSuccessRequestBuilder(
  { id }: ApiOperation,
  contract: OperationContract | undefined,
): OperationRequestBuilder {
  const [first] = Object.keys(contract?.requestsByOutcome ?? {}).filter((outcome) => outcome.startsWith("2"));
  const buildRequest = first && contract?.requestsByOutcome[first as ApiOperationOutcome];
  if (!buildRequest) throw new Error(`${id} has no contract: add it to the file of its tag.`);
  return buildRequest;
}
