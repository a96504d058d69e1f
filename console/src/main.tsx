import "@fontsource-variable/inter/wght.css";
import "./styles/console.css";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { loadInstallation } from "./installation.ts";
import { router } from "./router.tsx";
import { SessionGate } from "./session/session-context.tsx";
import { applyTheme } from "./shell/theme.ts";
import { text } from "./text/text.ts";
import { ErrorNotice } from "./ui/error-notice.tsx";

applyTheme();
const container = document.getElementById("root");
if (!container) throw new Error("The page has no element #root.");
const root = createRoot(container);

// Loads the code of the view while the API checks the key.
void router.load();
loadInstallation().then(
  (installation) =>
    root.render(
      <StrictMode>
        <SessionGate installation={installation}>
          <RouterProvider router={router} />
        </SessionGate>
      </StrictMode>,
    ),
  (cause: unknown) =>
    root.render(
      <ErrorNotice error={new Error(text.errors.noInstallation, { cause })} onRetry={() => location.reload()} />,
    ),
);
