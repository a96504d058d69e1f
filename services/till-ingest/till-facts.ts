import type { Application } from "@pragma/contracts/application";
import type { SeenDevice } from "@pragma/contracts/device";

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
  /** The device that closed the till, if it is named. */
  device: SeenDevice | undefined;
}

interface FactsByFormat {
  /** A V2 till belongs to the location of who pushes it. */
  V2: Facts & { format: "V2" };
  /** A V1 till says where it belongs, and its number in the legacy backoffice. */
  V1: Facts & { format: "V1"; serverId: number | null; legacyLocation: LegacyLocation };
}

/** What legacy backoffices know a location by. */
export interface LegacyLocation {
  application: Application;
  legacyId: number;
}

/** What this service needs to know of a till that was pushed; the rest of it is its body. */
export type TillFacts<Format extends TillFormat = TillFormat> = FactsByFormat[Format];
