import { type Waiter, WaitingLine } from "./waiting-line.ts";

interface PlaceLimits {
  /** Messages under way in this process, beyond which an endpoint gets no more than its fair share. */
  total: number;
  /** Messages under way to one origin at most. */
  perOrigin: number;
}

/** The places of one endpoint: as many as it has messages under way. */
export interface EndpointPlaces {
  /** Takes as many as there are, up to what is wanted. When it is fewer, the waiter is called once there may be more. */
  take(wanted: number): number;
  giveBack(places: number): void;
  /** Waits for places no longer. */
  close(): void;
}

/** This share of an origin's places is kept for endpoints that have none. */
const reserve = 0.2;

interface Origin {
  taken: number;
  line: WaitingLine;
}

/**
 * The messages that may be under way at once, shared out so that no endpoint waits for another: each may always have
 * its fair share, which is as many places as there would be for each if all had as many, and at least one. What is left
 * is first come, first served. Only the endpoints of one host may have to wait for one another.
 */
export class SharedPlaces {
  readonly #limits: PlaceLimits;
  readonly #line = new WaitingLine();
  readonly #origins = new Map<string, Origin>();
  #taken = 0;
  /** Endpoints that have a place. */
  #holders = 0;
  /** Whether those who wait are being called, each in its turn. */
  #isCalling = false;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  /** The places of another endpoint. */
  open(origin: string, waiter: Waiter): EndpointPlaces {
    let held = 0;
    return {
      take: (wanted) => {
        const places = this.#take(origin, { wanted, held, waiter });
        if (held === 0 && places > 0) this.#holders += 1;
        held += places;
        return places;
      },
      giveBack: (places) => {
        if (places === 0) return;
        held -= places;
        if (held === 0) this.#holders -= 1;
        this.#giveBack(origin, places);
      },
      close: () => {
        this.#line.remove(waiter);
        this.#origins.get(origin)?.line.remove(waiter);
        this.#forget(origin);
      },
    };
  }

  #take(origin: string, { wanted, held, waiter }: { wanted: number; held: number; waiter: Waiter }): number {
    const at = this.#origins.get(origin) ?? { taken: 0, line: new WaitingLine() };
    const free = this.#freeFor(held);
    const freeAt = this.#freeAt(at, held);
    const places = Math.max(0, Math.min(wanted, free, freeAt));
    this.#taken += places;
    at.taken += places;
    if (places < wanted) (free <= freeAt ? this.#line : at.line).add(waiter, { hasNone: held + places === 0 });
    this.#origins.set(origin, at);
    this.#forget(origin);
    return places;
  }

  /** Of all places: the endpoint's fair share, or what is left when no other waits for it. */
  #freeFor(held: number): number {
    const { total } = this.#limits;
    const share = Math.max(1, Math.floor(total / (this.#holders + (held === 0 ? 1 : 0))));
    return Math.max(share - held, this.#line.isEmpty || this.#isCalling ? total - this.#taken : 0);
  }

  #freeAt({ taken }: Origin, held: number): number {
    const { perOrigin } = this.#limits;
    const unreserved = Math.floor(perOrigin * (1 - reserve)) - taken;
    return held === 0 && taken < perOrigin ? Math.max(1, unreserved) : unreserved;
  }

  #giveBack(origin: string, places: number): void {
    this.#taken -= places;
    const at = this.#origins.get(origin);
    if (at) at.taken -= places;
    this.#forget(origin);
    if (this.#line.isEmpty && (!at || at.line.isEmpty)) return;
    // Whoever gives places back may be about to take some.
    setImmediate(() => {
      this.#isCalling = true;
      for (let place = 0; place < places; place += 1) {
        at?.line.callNext();
        if (this.#taken < this.#limits.total) this.#line.callNext();
      }
      this.#isCalling = false;
    });
  }

  #forget(origin: string): void {
    const at = this.#origins.get(origin);
    if (at?.taken === 0 && at.line.isEmpty) this.#origins.delete(origin);
  }
}
