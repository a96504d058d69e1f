import { Admission, type Permit } from "./admission.ts";
import { computePauseMs, recordSender } from "./contention.ts";
import { locationLimits } from "./limits.ts";

/** All services in this process share their reads and lookups, because they share the event loop. */
const reads = new Admission(locationLimits.reads);
const lookups = new Admission(locationLimits.lookups);
const largeBodies = new Admission(locationLimits.largeBodies);
const maxLargeBodyTurnMs = 2_000;

export function createRequestAdmission() {
  const admissions = { read: reads, lookup: lookups, write: new Admission(locationLimits.writes) };
  return {
    /** Waits until the request may be handled. @throws `ApiError` rate_limited if too many are waiting. */
    admit: (senderId: string, kind: keyof typeof admissions): Promise<AdmittedRequest> =>
      admitTo(admissions[kind], senderId),
    /** Waits until a large body may be read, for a turn of `maxLargeBodyTurnMs`. @throws `ApiError` rate_limited */
    async admitUpload(senderId: string): Promise<AdmittedRequest> {
      const upload = await admitTo(largeBodies, senderId);
      setTimeout(() => upload.release(), maxLargeBodyTurnMs).unref();
      return upload;
    },
  };
}

/** A request with a permit of its sender. */
export type AdmittedRequest = Awaited<ReturnType<typeof admitTo>>;

export type RequestAdmission = ReturnType<typeof createRequestAdmission>;

/** Waits until a request may be handled that counts as one of `admission`. The options are those of its pauses. */
export async function admitTo(
  admission: Admission,
  senderId: string,
  pauseOptions?: Parameters<typeof computePauseMs>[2],
) {
  let permit: Permit | undefined;
  let startedAt = 0;

  async function acquire(): Promise<void> {
    permit = admission.request(senderId);
    await permit.granted;
    startedAt = performance.now();
  }

  /**
   * Pauses the sender if the event loop is contended and further requests of the sender wait. Those that wait for work in
   * the event loop alone have not been read yet, because nothing interrupts such work.
   */
  function release(): void {
    const hasMore = pauseOptions?.usesOnlyEventLoop || admission.getWaitingCount(senderId) > 0;
    permit?.release(permit.isGranted && hasMore ? computePauseMs(senderId, startedAt, pauseOptions) : 0);
    permit = undefined;
  }

  recordSender(senderId);
  await acquire();
  return {
    release,
    /** Runs `wait` without the permit, so that other requests of the sender are handled meanwhile. */
    async runOutside<T>(wait: () => Promise<T>): Promise<T> {
      release();
      const result = await wait();
      await acquire();
      return result;
    },
  };
}
