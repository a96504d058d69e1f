import type { LocationHeader } from "@pragma/contracts/location";
import { defaultLocationOptions } from "@pragma/contracts/location-options";
import { defaultLocationSettings } from "@pragma/contracts/location-settings";
import type { LocationRow } from "./queries/locations.ts";

/** A location with every option and setting; those that it was made without, being older than they are, at their default. */
export function showDetails({ settingsId, settings, options, ...location }: LocationRow) {
  return {
    ...location,
    ...defaultLocationOptions,
    ...options,
    locationSettings: { id: settingsId, ...defaultLocationSettings, ...settings },
  };
}

/** The header of a location's tickets. Where the establishment has no name of its own, it is the location's. */
export function showHeader({ id, settings }: Pick<LocationRow, "id" | "settings">): LocationHeader {
  return {
    id,
    name: settings.establishmentName ?? settings.locationName,
    address: settings.address1,
    zip: settings.zipCode,
    city: settings.city,
    country: settings.country,
    phone: settings.phoneNumber,
    url: settings.website,
    siret: settings.siretCode,
    naf: settings.nafCode,
    tva: settings.tvaCode,
    text: settings.customHeader,
  };
}
