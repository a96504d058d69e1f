import * as x509 from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** A certificate authority that exists only for one test. */
export interface TestCertificateAuthority {
  /** The root certificate, in PEM format. */
  ca: string;
  /** Issues a certificate, in PEM format, for a client or for a server at 127.0.0.1 and localhost. */
  issue(name: string): Promise<{ ca: string; cert: string; key: string }>;
}

export async function createTestCertificateAuthority(): Promise<TestCertificateAuthority> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=Authority of a test",
    notBefore: validFrom(),
    notAfter: validUntil(),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  const ca = root.toString("pem");
  return {
    ca,
    async issue(name) {
      const subjectKeys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
      const certificate = await x509.X509CertificateGenerator.create({
        subject: `CN=${name}`,
        issuer: root.subject,
        notBefore: validFrom(),
        notAfter: validUntil(),
        publicKey: subjectKeys.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        extensions: [
          new x509.SubjectAlternativeNameExtension([
            { type: "dns", value: "localhost" },
            { type: "ip", value: "127.0.0.1" },
          ]),
        ],
      });
      const pkcs8 = Buffer.from(await crypto.subtle.exportKey("pkcs8", subjectKeys.privateKey)).toString("base64");
      const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/(.{64})/g, "$1\n")}\n-----END PRIVATE KEY-----\n`;
      return { ca, cert: certificate.toString("pem"), key };
    },
  };
}

const hourMs = 60 * 60 * 1000;
const validFrom = () => new Date(Date.now() - hourMs);
const validUntil = () => new Date(Date.now() + 24 * hourMs);
