/** A pair of keys as `cosign generate-key-pair` writes it, made with the Go library that cosign uses. The password is public. */
export const cosignKey = {
  password: "correct horse",
  private: `-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----
eyJrZGYiOnsibmFtZSI6InNjcnlwdCIsInBhcmFtcyI6eyJOIjo2NTUzNiwiciI6
OCwicCI6MX0sInNhbHQiOiJIK0NZVDJwcGlJUnB5NWZxSld2QTVqNXczeTkxRFA0
clBKaEo3RVpXYmp3PSJ9LCJjaXBoZXIiOnsibmFtZSI6Im5hY2wvc2VjcmV0Ym94
Iiwibm9uY2UiOiJseVJVcG5TVGNXdXNUZ3VRZGlqNFJOVDZCekNNN1NBWiJ9LCJj
aXBoZXJ0ZXh0IjoiSmRsak83Y0FqMmg2dGlwNkYzajRubG9yaHZGbFBPWG95L1Bk
Z0F2ZUJkTXFIbktESms3bCtBaTRaZzN0MGxXOXIyWmpIRG4vUDI3V0o3QW9WbUlk
R3FoMkdJL1RrMGFTdVdpZGZUdjcxU1hYZUM1bjJJK2wrcWFCVFgrdEJsVXd5NlF2
T1lvSHFsZGEzOXJwNHNuTFZCcjJBRnliWTRhcnlENythNGZUSlJ4cURqYnFPcmdk
Ym9oRnRacjR5dThkRnpKUFZFZDBLd09zUnc9PSJ9
-----END ENCRYPTED SIGSTORE PRIVATE KEY-----
`,
  public: `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAENEEK+uvKuYBdaMTv6DWXYf06I0pP
Q6RdzOqHrFX5k0tztIFTogTiAEqyvwlj10Vz75eCjbye6qHzicZhLhzJJQ==
-----END PUBLIC KEY-----
`,
} as const;
