import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { KeyFacts } from "@pragma/contracts/principal";
import type { ServiceRegistry } from "@pragma/runtime/service-registry";
import type { Rate } from "@pragma/runtime/token-bucket";
import { LRUCache } from "lru-cache";

/** What a key stands for. The principal is one object for as long as it is known, so that it is signed once a minute. */
export interface KnownKey {
  principal: Principal;
  /** The consumer's own limit; null for the one that every key has. */
  rateLimit: Rate | null;
  isRevoked: boolean;
}

/** Remembers keys by their hash, so that accounts is asked once a minute and not once a request. */
export type KeyCache = ReturnType<typeof createKeyCache>;

/** The look-up of a key at its source; null when there is none. */
export type KeyLookup = (hash: string) => Promise<KnownKey | null>;

/** For how many lifetimes a key is good when accounts cannot be asked. */
const lifetimesWhileAway = 5;
/** The part of its lifetime after which a key in use is looked up again, so that no request waits for it. */
const renewedAfter = 3 / 4;
const unknownTime = 5_000;
/** While accounts is away it is asked once in this time, in milliseconds, and nobody else waits for it. */
const awayTime = 1_000;
const mostKeys = 20_000;

interface Entry {
  key: KnownKey;
  since: number;
}

/** A look-up on its way. It is overtaken when something changes before it arrives, and is then worth nothing. */
interface Flight {
  arrival: Promise<KnownKey | null>;
  isOvertaken: boolean;
  /** Locations that were changed meanwhile: a key of one of them is looked up again. */
  changedLocations: Set<string>;
}

interface KeyCacheOptions {
  /** Milliseconds that a key is good for, from when its look-up began. */
  lifetime?: number;
  now?: () => number;
}

export function createKeyCache(lookUp: KeyLookup, { lifetime = 60_000, now = Date.now }: KeyCacheOptions = {}) {
  const known = new LRUCache<string, Entry>({ max: mostKeys });
  const unknownUntil = new LRUCache<string, number>({ max: mostKeys });
  const flights = new Map<string, Flight>();
  let away: { error: unknown; until: number } | undefined;

  function flightOf(hash: string): Flight {
    const under = flights.get(hash);
    if (under) return under;
    if (away) away.until = now() + awayTime;
    const since = now();
    const flight: Flight = {
      isOvertaken: false,
      changedLocations: new Set(),
      arrival: lookUp(hash).then(arrived, failed),
    };
    flight.arrival.catch(() => {});
    flights.set(hash, flight);
    return flight;

    function land(): void {
      if (flights.get(hash) === flight) flights.delete(hash);
    }
    function arrived(key: KnownKey | null): KnownKey | null {
      land();
      away = undefined;
      if (key?.principal.location && flight.changedLocations.has(key.principal.location.id)) flight.isOvertaken = true;
      if (flight.isOvertaken) return key;
      known.delete(hash);
      unknownUntil.delete(hash);
      if (key) known.set(hash, { key, since });
      else unknownUntil.set(hash, now() + unknownTime);
      return key;
    }
    function failed(error: unknown): never {
      land();
      away = { error, until: now() + awayTime };
      throw error;
    }
  }

  function overtake(hash: string): void {
    const flight = flights.get(hash);
    if (flight) flight.isOvertaken = true;
    flights.delete(hash);
  }

  /** The key, null when it is known that there is none, undefined when accounts must be asked. */
  function get(hash: string): KnownKey | null | undefined {
    const entry = known.get(hash);
    if (!entry) return (unknownUntil.get(hash) ?? 0) > now() ? null : undefined;
    const age = now() - entry.since;
    if (age < lifetime * renewedAfter) return entry.key;
    if (age < lifetime || (away && age < lifetime * lifetimesWhileAway)) {
      if (!away || now() >= away.until) flightOf(hash);
      return entry.key;
    }
    return undefined;
  }

  return {
    get,
    /**
     * Asks accounts, once for all who ask for the same key at the same time; null when there is none.
     *
     * @throws what the look-up throws, when accounts is away and the key was not seen lately.
     */
    async find(hash: string): Promise<KnownKey | null> {
      for (;;) {
        const here = get(hash);
        if (here !== undefined) return here;
        if (away && now() < away.until && !flights.has(hash)) throw away.error;
        const flight = flightOf(hash);
        try {
          const key = await flight.arrival;
          if (!flight.isOvertaken) return key;
        } catch (error) {
          const lately = get(hash);
          if (lately) return lately;
          throw error;
        }
      }
    },
    /** A key was made, changed or revoked: what is known of it is no longer so. */
    keyChanged(hash: string, isRevoked: boolean): void {
      overtake(hash);
      unknownUntil.delete(hash);
      const entry = known.get(hash);
      known.delete(hash);
      if (entry && isRevoked) known.set(hash, { key: { ...entry.key, isRevoked }, since: now() });
    },
    /** A location was changed: the principals of its keys say what was. */
    locationChanged(locationId: string): void {
      for (const flight of flights.values()) flight.changedLocations.add(locationId);
      for (const [hash, { key }] of known.entries()) {
        if (key.principal.location?.id === locationId) known.delete(hash);
      }
    },
    /** Forgets everything: something may have changed without this process hearing of it. */
    clear(): void {
      for (const hash of [...flights.keys()]) overtake(hash);
      known.clear();
      unknownUntil.clear();
    },
    get size(): number {
      return known.size;
    },
  };
}

const lookupTimeoutMs = 2_000;

/** Looks keys up at accounts. Rejects with service_unavailable when it cannot be asked, or not in time. */
export function createKeyLookup(registry: ServiceRegistry): KeyLookup {
  return async (hash) => {
    try {
      const response = await registry.ask("accounts", {
        from: "gateway",
        path: `/internal/keys/${hash}`,
        timeoutMs: lookupTimeoutMs,
      });
      if (response.status === 404) return null;
      if (response.status !== 200) throw new Error(`accounts answered ${response.status}: ${await response.text()}`);
      const { revokedAt, rateLimit, ...principal } = KeyFacts.parse(await response.json());
      return { principal, rateLimit, isRevoked: revokedAt !== null };
    } catch (cause) {
      throw new ApiError("service_unavailable", {
        detail: "API keys cannot be checked at the moment. Nothing was done; try again in a moment.",
        cause,
      });
    }
  };
}
