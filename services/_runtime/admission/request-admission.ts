import { Admission, type Permit } from "./admission.ts";
import { computePauseMs, recordSender } from "./contention.ts";
import { locationLimits } from "./limits.ts";

/** All services in this process share their reads, because they share the event loop. */
const reads = new Admission(locationLimits.reads);
const largeBodies = new Admission(locationLimits.largeBodies);
const maxLargeBodyTurnMs = 2_000;

export function createRequestAdmission() {
  const writes = new Admission(locationLimits.writes);
  return {
    /** Waits until the request may be handled. @throws `ApiError` rate_limited if too many are waiting. */
    admit: (senderId: string, { isWrite }: { isWrite: boolean }): Promise<AdmittedRequest> =>
      admitTo(isWrite ? writes : reads, senderId),
    /**
     * Waits until a large body may be read: at once, unless several senders share a busy event loop. The result is
     * released after `maxLargeBodyTurnMs`. @throws `ApiError` rate_limited if too many large bodies of the sender are
     * waiting.
     */
    async admitUpload(senderId: string): Promise<AdmittedRequest> {
      const upload = await admitTo(largeBodies, senderId);
      setTimeout(() => upload.release(), maxLargeBodyTurnMs).unref();
      return upload;
    },
  };
}

/** Waits until a request may be handled that counts as one of `admission`. */
export async function admitTo(admission: Admission, senderId: string): Promise<AdmittedRequest> {
  recordSender(senderId);
  const request = new AdmittedRequest(admission, senderId);
  await request.acquire();
  return request;
}

export type RequestAdmission = ReturnType<typeof createRequestAdmission>;

/** A request with a permit of its sender. */
export class AdmittedRequest {
  readonly #admission: Admission;
  readonly #senderId: string;
  #permit: Permit | undefined;
  #startedAt = 0;

  constructor(admission: Admission, senderId: string) {
    this.#admission = admission;
    this.#senderId = senderId;
  }

  async acquire(): Promise<void> {
    this.#permit = this.#admission.request(this.#senderId);
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

  /** Releases the permit, after a pause if the event loop is contended and further requests of the sender wait. */
  release(): void {
    const permit = this.#permit;
    this.#permit = undefined;
    if (!permit) return;
    const hasMore = permit.isGranted && this.#admission.getWaitingCount(this.#senderId) > 0;
    permit.release(hasMore ? computePauseMs(this.#senderId, this.#startedAt) : 0);
  }
}
