import { useDocsPreferredVersion } from "@docusaurus/plugin-content-docs/client";
import type { WrapperProps } from "@docusaurus/types";
import type DocVersionRootType from "@theme/DocVersionRoot";
import DocVersionRoot from "@theme-original/DocVersionRoot";
import { type ReactNode, useEffect } from "react";

/** Saves the version of the documentation being read, so that links from other pages lead back to it. */
export default function RememberedDocVersion(props: WrapperProps<typeof DocVersionRootType>): ReactNode {
  const { pluginId, version } = props.version;
  const { savePreferredVersionName } = useDocsPreferredVersion(pluginId);
  // Saving changes the context that provides the save function, so the effect depends on the version only.
  // biome-ignore lint/correctness/useExhaustiveDependencies: depending on the function would save in an endless loop
  useEffect(() => savePreferredVersionName(version), [version]);
  return <DocVersionRoot {...props} />;
}
