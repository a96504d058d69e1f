import { QueryClientProvider } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from "react";
import { createFormats, type Formats } from "../format/formats.ts";
import type { Installation } from "../installation.ts";
import { Opening } from "./opening.tsx";
import {
  isKeyRejection,
  openSession,
  readStoredKey,
  removeStoredKey,
  type Session,
  type SignOutReason,
  storeKey,
} from "./session.ts";
import { SignInPage } from "./sign-in-page.tsx";

interface SessionAccess extends Session {
  installation: Installation;
  formats: Formats;
  /** Whether the reader entered the key on this page. Otherwise, the tab continues its session. */
  isNew: boolean;
  signOut: (reason?: SignOutReason) => void;
  /** Continues the session with another key, such as the successor of a rotated one. @throws as `openSession` */
  continueWithKey: (apiKey: string) => Promise<void>;
}

const SessionContext = createContext<SessionAccess | null>(null);

/** Returns the session. @throws Error outside of `SessionGate` */
export function useSession(): SessionAccess {
  const session = use(SessionContext);
  if (!session) throw new Error("The component is outside of SessionGate.");
  return session;
}

export const useFormats = (): Formats => useSession().formats;

/** Shows its children while a key is signed in, and otherwise the sign-in page, at the same URL. */
export function SessionGate({ installation, children }: { installation: Installation; children: ReactNode }) {
  const [session, setSession] = useState<Session | null>(null);
  const [continuedKey, setContinuedKey] = useState(readStoredKey);
  const [isOpening, setIsOpening] = useState(continuedKey !== null);
  const [reason, setReason] = useState<SignOutReason | null>(null);

  const signOut = useCallback((why: SignOutReason = { kind: "signedOut" }) => {
    removeStoredKey();
    setContinuedKey(null);
    setSession((current) => {
      current?.queryClient.clear();
      return null;
    });
    setReason(why);
  }, []);

  const signIn = useCallback(
    async (apiKey: string) => {
      const opened = await openSession(installation.apiUrl, apiKey, (problem) => {
        // A late response to a key that another one replaced does not concern the session.
        if (readStoredKey() === apiKey) signOut({ kind: "rejected", problem });
      });
      storeKey(apiKey);
      setReason(null);
      setSession(opened);
    },
    [installation, signOut],
  );

  const [openingError, setOpeningError] = useState<unknown>(null);
  useEffect(() => {
    const stored = readStoredKey();
    if (stored === null) return;
    signIn(stored)
      .catch((error: unknown) => {
        if (isKeyRejection(error)) removeStoredKey();
        setOpeningError(error);
      })
      .finally(() => setIsOpening(false));
  }, [signIn]);

  const access = useMemo(
    () =>
      session && {
        ...session,
        installation,
        isNew: session.apiKey !== continuedKey,
        signOut,
        continueWithKey: signIn,
        formats: createFormats({
          timeZone: session.key.location?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
          currency: session.key.location?.currencyCode ?? null,
        }),
      },
    [session, installation, continuedKey, signOut, signIn],
  );

  if (isOpening) return <Opening />;
  if (!access)
    return <SignInPage reason={reason} initialError={openingError} onSignIn={signIn} installation={installation} />;
  return (
    <SessionContext value={access}>
      <QueryClientProvider client={access.queryClient}>{children}</QueryClientProvider>
    </SessionContext>
  );
}
