import { loadInstallation } from "../installation.ts";
import { text } from "../text/text.ts";

/**
 * Returns the code of a view. If it is missing, as after an update of the console, the router loads the page again. But if
 * the server of the console does not respond, the browser would replace the page by an empty one.
 * @throws Error that states this
 */
export async function loadView<Module>(importView: () => Promise<Module>): Promise<Module> {
  try {
    return await importView();
  } catch (error) {
    await loadInstallation().catch((cause: unknown) => {
      throw new Error(text.errors.noInstallation, { cause });
    });
    throw error;
  }
}
