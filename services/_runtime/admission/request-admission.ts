import { ApiError } from "@pragma/contracts/errors";
import { createRoundRobinQueue, type QueuePermit } from "../concurrency/round-robin-queue.ts";
import { computePauseMs, isContended, recordSender } from "./contention.ts";

/**
 * Maximum number of reads of one sender that are handled at the same time in this process, and of writes in each service.
 * It limits how much a location uses of what all locations share: the event loop, the database connections, and the
 * capacity of PostgreSQL for queries.
 */
const maxActivePerSender = 3;
/** Further requests of a sender are rejected, because each waiting request occupies a connection. */
const maxWaitingPerSender = 250;

const createQueue = (maxActivePerKey: () => number) =>
  createRoundRobinQueue({ maxActive: Number.POSITIVE_INFINITY, maxActivePerKey });
type AdmissionQueue = ReturnType<typeof createQueue>;

const getMaxActivePerSender = () => (isContended() ? 1 : maxActivePerSender);
/** All services in this process share their reads, because they share the event loop. */
const reads = createQueue(getMaxActivePerSender);

/**
 * Large bodies that are read, in all services of this process. A body that arrives slowly gives up its turn after
 * `maxUploadTurnMs`, because it takes little of the event loop.
 */
const uploads = createQueue(() => (isContended() ? 1 : Number.POSITIVE_INFINITY));
const maxUploadTurnMs = 2_000;

/** Creates the admission of requests to a service. A request waits only for requests of its own sender. */
export function createRequestAdmission() {
  // Each service has its own queue of writes, because writes can wait for other systems, such as webhook endpoints and
  // legacy backoffices.
  const writes = createQueue(getMaxActivePerSender);
  return {
    /**
     * Waits until the request may be handled. `senderId` is that of `getSenderId`.
     *
     * @throws `ApiError` rate_limited if too many requests of the sender are waiting.
     */
    async admit(senderId: string, { isWrite }: { isWrite: boolean }): Promise<AdmittedRequest> {
      return admitTo(isWrite ? writes : reads, senderId);
    },
    /**
     * Waits until the large body of a request may be read: at once, unless several senders share a busy event loop.
     * Meanwhile, the client waits, because nothing reads its bytes. The result is released after `maxUploadTurnMs`.
     *
     * @throws `ApiError` rate_limited if too many large bodies of the sender are waiting.
     */
    async admitUpload(senderId: string): Promise<AdmittedRequest> {
      const upload = await admitTo(uploads, senderId);
      setTimeout(() => upload.release(), maxUploadTurnMs).unref();
      return upload;
    },
  };
}

async function admitTo(queue: AdmissionQueue, senderId: string): Promise<AdmittedRequest> {
  recordSender(senderId);
  if (queue.getWaitingCount(senderId) >= maxWaitingPerSender) throw createTooManyWaitingError();
  const request = new AdmittedRequest(queue, senderId);
  await request.acquire();
  return request;
}

export type RequestAdmission = ReturnType<typeof createRequestAdmission>;

/** A request with a permit of its sender's queue. */
export class AdmittedRequest {
  readonly #queue: AdmissionQueue;
  readonly #senderId: string;
  #permit: QueuePermit | undefined;
  #startedAt = 0;

  constructor(queue: AdmissionQueue, senderId: string) {
    this.#queue = queue;
    this.#senderId = senderId;
  }

  async acquire(): Promise<void> {
    this.#permit = this.#queue.requestPermit(this.#senderId);
    await this.#permit.granted;
    this.#startedAt = performance.now();
  }

  /** Runs `wait` without the permit, so that other requests of the sender are handled meanwhile. */
  async runOutside<T>(wait: () => Promise<T>): Promise<T> {
    this.release();
    const result = await wait();
    await this.acquire();
    return result;
  }

  /**
   * Releases the permit, after a pause if the event loop is contended and further requests of the sender wait. Later calls
   * have no effect.
   */
  release(): void {
    const permit = this.#permit;
    this.#permit = undefined;
    if (!permit) return;
    const hasMore = permit.isGranted && this.#queue.getWaitingCount(this.#senderId) > 0;
    permit.release(hasMore ? computePauseMs(this.#senderId, this.#startedAt) : 0);
  }
}

function createTooManyWaitingError(): ApiError {
  return new ApiError("rate_limited", {
    detail: `More than ${maxWaitingPerSender} requests of this location are waiting. Send fewer requests at the same time.`,
    limit: { name: "waiting_requests", maximum: maxWaitingPerSender, unit: "requests" },
    headers: { "retry-after": "2" },
  });
}
