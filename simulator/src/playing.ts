import type { PublicClient } from "@pragma/client/create-client";
import type { Clock } from "./clock.ts";
import type { Restaurant } from "./restaurant.ts";
import type { LegacyLocation } from "./till-v1.ts";

/** A restaurant at its location: what playing it takes. */
export interface Playing {
  /** The API under the location's key. */
  readonly api: PublicClient;
  readonly restaurant: Restaurant;
  /** IANA name, the location's. */
  readonly timeZone: string;
  /** What tells the restaurant's tills from those of other locations: the location's id, where it is known. */
  readonly name: string;
  /** Given when tills are pushed in the older format: what names the location there. */
  readonly legacy: LegacyLocation | null;
  /** How many calls a second it makes at most. */
  readonly rate: number;
  readonly clock: Clock;
  /** Ends the play: what waits or asks then throws the signal's reason. */
  readonly signal: AbortSignal;
  /** Told what a person would want to know, in a line. */
  readonly say: (line: string) => void;
}
