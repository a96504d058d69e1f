import { Link } from "@tanstack/react-router";
import { loadInstallation } from "../installation.ts";
import { text } from "../text/text.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page } from "../ui/page.tsx";

export const NotFound = () => (
  <Page title={text.errors.notFoundTitle}>
    <p>
      {text.errors.notFound} <Link to="/">{text.errors.home}</Link>
    </p>
  </Page>
);

/** Shown if the code of a view cannot be loaded, for example after an update of the console, or if it has an error. */
export const ViewError = ({ error }: { error: unknown }) => (
  <Page title={text.errors.viewFailed}>
    <ErrorNotice error={error} onRetry={() => void reloadPage()} />
  </Page>
);

/** Loads the page again, unless no server responds: the browser would replace the page by an error page. */
const reloadPage = () =>
  loadInstallation().then(
    () => location.reload(),
    () => undefined,
  );
