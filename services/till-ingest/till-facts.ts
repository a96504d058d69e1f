import type { Application } from "@pragma/contracts/application";
import type { SeenDevice } from "@pragma/contracts/device";
import type { FaultyBody } from "@pragma/runtime/faults";

/** The format that the body of a till is in. */
export type TillFormat = "V1" | "V2";

/** The format that a body has to be in, or either, which its members tell. */
export type WantedFormat = TillFormat | "either";

/** What a body turns out to be when this was wanted. */
export type FormatOf<Wanted extends WantedFormat> = Wanted extends TillFormat ? Wanted : TillFormat;

interface Facts {
  /** Without the leading `s`, in lower case. */
  tillId: string;
  isTraining: boolean;
  orderCount: number;
  /** The device that closed the till, if it is named. */
  device: SeenDevice | undefined;
}

/** A V2 till belongs to the location of who pushes it. */
export interface TillFactsV2 extends Facts {
  format: "V2";
}

/** A V1 till says where it belongs. */
export interface TillFactsV1 extends Facts {
  format: "V1";
  /** Its number in the legacy backoffice. */
  serverId: number | null;
  legacyLocation: LegacyLocation;
}

/** What legacy backoffices know a location by. */
export interface LegacyLocation {
  application: Application;
  legacyId: number;
}

interface FactsByFormat {
  V1: TillFactsV1;
  V2: TillFactsV2;
}

/** What this service needs to know of a till that was pushed; the rest of it is its body. */
export type TillFacts<Format extends TillFormat = TillFormat> = FactsByFormat[Format];

/** What is wrong with a till. */
export type FaultyTill = FaultyBody;
