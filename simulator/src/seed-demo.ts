import { pushMissingCatalog } from "./demo-catalog.ts";
import { daysUntilYesterday } from "./demo-days.ts";
import { openDemoLocation } from "./demo-location.ts";
import { demoStory } from "./demo-story.ts";
import { awaitReports, pushMissingTills } from "./demo-tills.ts";
import { type ApiOptions, PublicApi } from "./public-api.ts";

interface DemoOptions extends Omit<ApiOptions, "apiKey"> {
  /** A key with every scope. */
  adminKey: string;
  /** Where the location's id and key are remembered. */
  file: string;
  now: Date;
  /** Told what goes on, and how far it is. */
  show: (text: string) => void;
}

/**
 * Makes the demo location where the installation has none, gives it a catalogue and the tills of the thirty days
 * until yesterday, and waits for their reports. What is there already stays. The reply tells how to read it.
 */
export async function seedDemo({ adminKey, file, now, show, ...api }: DemoOptions): Promise<string> {
  const admin = new PublicApi({ ...api, apiKey: adminKey });
  const access = await openDemoLocation(admin, file);
  const location = admin.withKey(access.apiKey);
  show("Sending the catalogue");
  await pushMissingCatalog(location);
  const days = daysUntilYesterday(access.locationId, now);
  await pushMissingTills(location, access.locationId, days, (done) => show(`Pushing tills: ${done} of ${days.length}`));
  const newest = await awaitReports(location, days, (ready) => show(`Computing reports: ${ready} of ${days.length}`));
  return demoStory(api.url, access, newest);
}
