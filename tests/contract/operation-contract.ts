import type { ApiOperation, ApiOperationOutcome } from "./api-operations.ts";
import type { ApiContractFixture } from "./contract-fixture.ts";

/** The parameters, body, headers and API key of a request to an operation. */
export interface OperationRequest {
  path?: Record<string, string>;
  query?: Record<string, string>;
  /** The body, which is sent as JSON unless it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The API key. Default: the key of the fixture's location. Null sends no key. */
  key?: string | null;
}

/** A function that prepares the data for an outcome of an operation, and returns the request with this outcome. */
export type OperationRequestBuilder = (fixture: ApiContractFixture) => OperationRequest | Promise<OperationRequest>;

/** The requests that test the contract of an operation. */
export interface OperationContract {
  /**
   * Builders of the request for each outcome of this operation. The first success is the success request. The requests
   * for the common errors are built from the success request.
   */
  requestsByOutcome: Partial<Record<ApiOperationOutcome, OperationRequestBuilder>>;
  /** The status of the response if the success request is sent with another location's API key that has all scopes. */
  statusForOtherLocation?: number;
  /** The documented outcomes that cannot be tested here, with the reason. */
  untestableOutcomes?: Partial<Record<ApiOperationOutcome, string>>;
}

/** The contract test cases of the operations of a tag, by operation id. */
export type TagContractTestCases = Record<string, OperationContract>;

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
