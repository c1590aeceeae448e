//! The forms of secrets: the table that the scanner uses.
//!
//! A rule is tried where one of its anchors occurs in the text. Its pattern begins at the anchor
//! (or at most [`Start::Back`] bytes before it) and matches bytes, not characters. The secret is
//! the first group that matched, or the whole match if there is no group. The formats come from the
//! providers' documentation or from sample tokens; the list of providers was compared with the
//! default configuration of gitleaks (MIT, as of 2026).
//!
//! Secrets without a recognisable form (`MISTRAL_API_KEY=…`) are found by the adjacent name: see
//! [`assignment`](crate::assignment).

use crate::SecretKind;

pub(super) struct Rule {
    /// The kind in the replacement.
    pub(super) kind: SecretKind,
    /// Every match of the pattern contains one of these literals.
    pub(super) anchors: &'static [&'static str],
    /// A regular expression over bytes that matches the whole form.
    pub(super) pattern: &'static str,
    pub(super) start: Start,
    pub(super) check: Check,
}

/// Where a pattern begins, relative to its anchor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// At the anchor, which must not follow a letter or digit.
    Edge,
    /// At the anchor, which must not follow a character of `[A-Za-z0-9_-]`. For patterns that may
    /// read many bytes and then fail: each run of such characters is read only once.
    Run,
    /// At the anchor, which must not follow a base64 character. For short forms that occur inside
    /// encoded data.
    Alone,
    /// At the anchor, after any text.
    Anywhere,
    /// At most this number of bytes before the anchor.
    Back(usize),
}

/// A condition on the secret itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Neither a placeholder nor a repetition of a few characters.
    Varied,
    /// Like `Varied`, and contains a digit or looks random, unlike most identifiers.
    Mixed,
    /// Like `Varied`, and looks random.
    Random,
    /// Like `Random`, and contains a digit.
    Drawn,
    /// At least two bytes, and neither a placeholder nor a plain word nor a `file:` reference.
    Password,
    /// Like `Password`, and contains a lower-case letter. The names of methods, such as `LOGIN` in
    /// `AUTH LOGIN`, contain none.
    Chosen,
    /// Contains no function words. The pattern requires at least twelve words.
    SeedWords,
    /// The base64 of `user:password`.
    BasicPair,
    Nothing,
}

impl Rule {
    const fn check(mut self, check: Check) -> Rule {
        self.check = check;
        self
    }

    const fn back(mut self, bytes: usize) -> Rule {
        self.start = Start::Back(bytes);
        self
    }

    const fn alone(mut self) -> Rule {
        self.start = Start::Alone;
        self
    }

    const fn run(mut self) -> Rule {
        self.start = Start::Run;
        self
    }
}

/// Returns the rule of a form that must not follow a letter or digit, because the form is short
/// enough to occur inside other text.
const fn edged(
    kind: &'static str,
    anchors: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule { kind: SecretKind(kind), anchors, pattern, start: Start::Edge, check: Check::Varied }
}

/// Returns the rule of a form that is found even directly after other text.
const fn glued(
    kind: &'static str,
    anchors: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule { kind: SecretKind(kind), anchors, pattern, start: Start::Anywhere, check: Check::Varied }
}

/// One row per line, so that rows can be compared.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // Cloud providers.
    edged("aws-secret-key", &["AKIA", "ASIA"], r#"A[KS]IA[A-Z2-7]{16}["']?[ \t,;:|/"']{1,4}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#),
    glued("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"A[KSBC][IC]A[A-Z2-7]{16}(?:\b|_)"),
    glued("aws-session-token", &["FwoGZXIvYXdz", "IQoJb3JpZ2lu"], r"[A-Za-z0-9/+=]{60,}"),
    edged("aws-bedrock-key", &["ABSK", "bedrock-api-key-"], r"(?:ABSK[A-Za-z0-9+/]{80,}|bedrock-api-key-[A-Za-z0-9+/]{30,})=*").alone(),
    edged("aws-marketplace-token", &["amzn.mws."], r"amzn\.mws\.[0-9a-f-]{36}"),
    edged("google-api-key", &["AIza"], r"AIza[\w-]{35,}"),
    edged("google-api-key", &["AQ.Ab"], r"AQ\.Ab[\w-]{30,}"),
    edged("google-oauth-secret", &["GOCSPX-"], r"GOCSPX-[\w-]{20,}"),
    edged("google-oauth-token", &["ya29.", "1//0"], r"(?:ya29\.|1//0)[\w.-]{20,}"),
    glued("firebase-key", &["APA91"], r"AAAA[\w-]{7}:APA91[\w-]{100,}").back(12),
    edged("azure-ad-secret", &["Q~"], r"[\w.~-]{3}\dQ~[\w.~-]{31,}").back(4),
    glued("azure-key", &["JQQJ99"], r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9+/=_-]{20,}").back(52),
    glued("azure-key", &["+ASt", "+ACR", "+ASb", "+AEh", "+AMC", "ACDb", "AzSe", "AzCa", "AzFu", "AIoT"], r"(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{30,80}(?:\+ASt|\+ACR|\+ASb|\+AEh|\+AMC|ACDb|AzSe|AzCa|AzFu|AIoT)[A-Za-z0-9+/]{3,8}(?:==?|\b))").back(81).check(Check::Mixed),
    edged("azure-devops-token", &["AZDO"], r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}").back(76),
    glued("azure-signature", &["sig="], r"sig=([A-Za-z0-9%+/]{40,}(?:=|%3[Dd])*)"),
    edged("alibaba-key", &["LTAI"], r"LTAI[A-Za-z0-9]{12,}").check(Check::Mixed).alone(),
    edged("tencent-key", &["AKID"], r"AKID[A-Za-z0-9]{28,}").alone(),
    edged("yandex-key", &["AQVN", "t1."], r"(?:AQVN[\w-]{35,}|t1\.[A-Z0-9a-z_-]+=*\.[\w-]{86}=*)").alone(),
    edged("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_[0-9a-f]{40,}"),
    edged("cloudflare-token", &["cfut_", "cfat_", "cfk_"], r"cf(?:ut|at|k)_[\w-]{30,}"),
    edged("cloudflare-origin-key", &["v1.0-"], r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    edged("heroku-key", &["HRKU-"], r"HRKU-[\w-]{36,}"),
    edged("vercel-token", &["vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"], r"(?:vc[piark]_[A-Za-z0-9]{24,}|vercel_blob_rw_\w{20,})"),
    edged("netlify-token", &["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], r"nf[pcoub]_[A-Za-z0-9]{30,}"),
    edged("fly-token", &["fm1a_", "fm1r_", "fm2_", "fo1_"], r"(?:fm1[ar]_|fm2_|fo1_)[A-Za-z0-9+/_=,-]{30,}"),
    edged("render-token", &["rnd_"], r"rnd_[A-Za-z0-9]{28,}").check(Check::Mixed),
    edged("supabase-key", &["sbp_", "sb_secret_"], r"(?:sbp_[0-9a-f]{40}|sbp_v0_[0-9a-f]{40}|sb_secret_[\w-]{20,})"),
    edged("planetscale-token", &["pscale_"], r"pscale_(?:tkn|pw|oauth|pat)_[\w.=-]{28,}"),
    edged("neon-key", &["napi_"], r"napi_[a-z0-9]{50,}"),
    edged("scaleway-key", &["SCW"], r"SCW[A-Z0-9]{17}\b").check(Check::Mixed).alone(),
    edged("tailscale-key", &["tskey-"], r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}"),
    edged("openshift-token", &["sha256~"], r"sha256~[\w-]{43}"),
    // Source forges, registries, CI.
    glued("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9]{20,}(?:[._-]\w[\w-]*)*"),
    glued("github-token", &["github_pat_"], r"github_pat_\w{22,}"),
    edged("github-token", &["v1."], r"v1\.[0-9a-f]{40}\b"),
    glued("gitlab-token", &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "glwt-"], r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[\w-]{20,}(?:\.[\w-]+)*"),
    edged("gitlab-token", &["GR1348941"], r"GR1348941[\w-]{20,}"),
    edged("bitbucket-token", &["ATBB", "BBDC-"], r"(?:ATBB[A-Za-z0-9]{28,}=?\w*|BBDC-[A-Za-z0-9+/@_-]{40,})"),
    edged("atlassian-token", &["ATATT3", "ATCTT3", "ATSTT3", "ATOATT"], r"AT(?:[ACS]TT3|OATT)[\w=-]{40,}(?:=[0-9A-F]{8})?"),
    edged("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36,}"),
    edged("pypi-token", &["pypi-"], r"pypi-[\w-]{50,}"),
    edged("crates-io-token", &["cio"], r"cio[A-Za-z0-9]{32}\b").check(Check::Mixed).alone(),
    edged("rubygems-token", &["rubygems_"], r"rubygems_[0-9a-f]{40,}"),
    edged("nuget-key", &["oy2"], r"oy2[a-z0-9]{43}\b").alone(),
    edged("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_[\w-]{20,}"),
    edged("clojars-token", &["CLOJARS_"], r"CLOJARS_[a-z0-9]{50,}"),
    edged("jfrog-token", &["AKCp", "cmVmdGtuOj"], r"(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtuOj[A-Za-z0-9+/=]{40,})").alone(),
    edged("circleci-token", &["CCIPAT_", "CCIPRJ_"], r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,}_[0-9a-f]{40}"),
    edged("buildkite-token", &["bkua_", "bkaa_"], r"bk[ua]a_[0-9a-f]{40}"),
    edged("sonar-token", &["squ_", "sqp_", "sqa_"], r"sq[upa]_[0-9a-f]{40}"),
    edged("snyk-token", &["snyk_"], r"snyk_[a-z]+\.[\w.-]{20,}"),
    edged("sourcegraph-token", &["sgp_", "slk_"], r"(?:sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}|slk_[0-9a-f]{64})"),
    edged("postman-key", &["PMAK-"], r"PMAK-[0-9a-f]{24}-[0-9a-f]{30,}"),
    edged("octopus-key", &["API-"], r"API-[A-Z0-9]{25,}\b").check(Check::Mixed),
    // Model providers.
    glued("anthropic-key", &["sk-ant-"], r"sk-ant-[\w-]{20,}"),
    edged("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}"),
    edged("openrouter-key", &["sk-or-"], r"sk-or-v1-[0-9a-f]{40,}"),
    edged("langfuse-key", &["sk-lf-"], r"sk-lf-[0-9a-f-]{32,}"),
    edged("openai-key", &["sk-"], r"sk-[A-Za-z0-9]{20,}\b").check(Check::Mixed),
    edged("openai-key", &["sess-"], r"sess-[A-Za-z0-9]{40}").check(Check::Mixed),
    edged("huggingface-token", &["hf_", "api_org_"], r"(?:hf_|api_org_)[A-Za-z0-9]{30,}"),
    edged("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{30,}"),
    edged("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}"),
    edged("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}"),
    edged("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{60,}"),
    edged("cerebras-key", &["csk-"], r"csk-[a-z0-9]{40,}"),
    edged("nvidia-key", &["nvapi-"], r"nvapi-[\w-]{50,}"),
    edged("tavily-key", &["tvly-"], r"tvly-[A-Za-z0-9-]{20,}"),
    edged("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,}"),
    edged("pinecone-key", &["pcsk_"], r"pcsk_\w{50,}"),
    edged("jina-key", &["jina_"], r"jina_\w{50,}"),
    edged("elevenlabs-key", &["sk_"], r"sk_[0-9a-f]{48}\b"),
    edged("firecrawl-key", &["fc-"], r"fc-[0-9a-f]{32}\b"),
    edged("wandb-key", &["wandb_v1_"], r"wandb_v1_\w{40,}"),
    edged("runpod-key", &["rpa_"], r"rpa_[A-Z0-9]{40,}\w*"),
    // Messaging and mail.
    glued("slack-token", &["xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-", "xwfp-"], r"x(?:ox[abeoprscd]|app|wfp)[-.](?:xox[bp]-)?[A-Za-z0-9%+/=-]{16,}"),
    glued("slack-webhook", &["hooks.slack.com/"], r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})"),
    glued("discord-webhook", &["/api/webhooks/"], r"/api/webhooks/\d{15,21}/([\w-]{40,})"),
    edged("discord-token", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"], r"[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{25,}").alone(),
    edged("discord-token", &["mfa."], r"mfa\.[\w-]{80,}"),
    edged("telegram-token", &[":AA"], r"\b\d{8,10}:AA[\w-]{32,}").back(10),
    edged("twilio-key", &["SK"], r"SK[0-9a-f]{32}\b").alone(),
    edged("sendgrid-key", &["SG."], r"SG\.[\w-]{16,32}\.[\w-]{16,64}").check(Check::Mixed),
    edged("mailgun-key", &["key-"], r"key-[0-9a-f]{32}\b"),
    edged("mailchimp-key", &["-us"], r"\b[0-9a-f]{32}-us\d{1,2}\b").back(32),
    edged("brevo-key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-[0-9a-f]{40,}-[A-Za-z0-9]{12,}"),
    edged("resend-key", &["re_"], r"re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,}").check(Check::Mixed),
    glued("teams-webhook", &["webhook.office.com/"], r"webhook\.office\.com/webhookb2/([0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[\w/-]{30,})").check(Check::Nothing),
    glued("zapier-webhook", &["hooks.zapier.com/"], r"hooks\.zapier\.com/hooks/catch/([A-Za-z0-9]+/[A-Za-z0-9]+)").check(Check::Nothing),
    // Payment and shops.
    edged("stripe-key", &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "sk_org_"], r"[sr]k_(?:live|test|prod|org_live|org_test)_\w{10,}"),
    edged("webhook-secret", &["whsec_"], r"whsec_[A-Za-z0-9+/_-]{24,}=*"),
    edged("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_", "shpua_", "shptka_"], r"shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32,}"),
    edged("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], r"sq0(?:atp|csp|idp)-[\w-]{20,}"),
    edged("square-token", &["EAAA"], r"EAAA[\w-]{58,}").alone(),
    edged("facebook-token", &["EAA"], r"EAA[A-Z][A-Za-z0-9]{90,}").alone(),
    edged("paypal-token", &["access_token$"], r"access_token\$(?:production|sandbox)\$[a-z0-9]{12,}\$[0-9a-f]{32}"),
    edged("paypal-token", &["A21AA"], r"A21AA[\w-]{60,}"),
    edged("plaid-token", &["access-sandbox-", "access-development-", "access-production-"], r"access-(?:sandbox|development|production)-[0-9a-f-]{36}"),
    edged("razorpay-key", &["rzp_live_", "rzp_test_"], r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    edged("flutterwave-key", &["FLWSECK"], r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),
    edged("adyen-key", &["AQE"], r"AQE[A-Za-z0-9+/_-]{80,}={0,2}(?:-[A-Za-z0-9+/=]+)*").alone(),
    edged("easypost-key", &["EZAK", "EZTK"], r"EZ[AT]K[A-Za-z0-9]{50,}"),
    edged("shippo-token", &["shippo_"], r"shippo_(?:live|test)_[0-9a-f]{40}"),
    edged("duffel-token", &["duffel_"], r"duffel_(?:live|test)_[\w=-]{40,}"),
    // Monitoring and operations.
    edged("databricks-token", &["dapi", "dkea", "dose"], r"d(?:api|kea|ose)[0-9a-f]{32}(?:-\d+)?\b"),
    edged("newrelic-key", &["NRAK-", "NRII-", "NRJS-", "NRRA-", "NRBR-", "NRIQ-"], r"NR(?:AK|II|JS|RA|BR|IQ)-[A-Za-z0-9_-]{19,}"),
    edged("newrelic-key", &["NRAL"], r"\b[0-9a-zA-Z]{36}NRAL\b").back(36),
    edged("sentry-token", &["sntrys_", "sntryu_", "sntryi_"], r"sntry[sui]_[A-Za-z0-9+/_-]{40,}=*"),
    edged("grafana-token", &["glsa_", "glc_"], r"(?:glsa_[A-Za-z0-9]{30,}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{30,}=*)"),
    edged("grafana-token", &["eyJrIjoi"], r"eyJrIjoi[A-Za-z0-9+/]{40,}={0,2}"),
    edged("pagerduty-key", &["u+"], r"u\+[\w-]{18}\b").check(Check::Mixed),
    edged("dynatrace-token", &["dt0"], r"dt0[a-z]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{50,}"),
    edged("honeycomb-key", &["hcaik_", "hcbik_", "hcxik_", "hcamk_"], r"hc[abx][im]k_\w{40,}"),
    edged("splunk-token", &["Splunk "], r"Splunk ([0-9a-fA-F-]{36})").check(Check::Nothing),
    glued("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[\w-]{20,}"),
    edged("vault-token", &["s."], r"s\.[A-Za-z0-9]{24}\b").check(Check::Drawn),
    edged("vault-unseal-key", &["Unseal Key", "Recovery Key"], r"(?:Unseal|Recovery) Key(?: \d+)?: ([A-Za-z0-9+/]{40,}=*)"),
    edged("terraform-token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,}").back(14),
    edged("pulumi-token", &["pul-"], r"pul-[0-9a-f]{40}\b"),
    edged("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    edged("1password-token", &["ops_eyJ"], r"ops_eyJ[\w=-]{100,}"),
    edged("1password-key", &["A3-"], r"A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){3,5}"),
    edged("infracost-key", &["ico-"], r"ico-[A-Za-z0-9]{32}"),
    edged("harness-token", &["pat."], r"pat\.[\w-]{20,24}\.[A-Za-z0-9]{20,28}\.[A-Za-z0-9]{18,24}"),
    edged("prefect-key", &["pnu_", "pnb_"], r"pn[ub]_[A-Za-z0-9]{36}"),
    // Productivity tools.
    edged("linear-key", &["lin_api_", "lin_oauth_", "lin_wh_"], r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{30,}"),
    edged("notion-token", &["ntn_", "secret_"], r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})"),
    edged("figma-token", &["figd_", "figo_", "figu_", "figor_", "figoh_"], r"fig(?:d|o|u|or|oh)_[\w-]{36,}"),
    edged("airtable-token", &["pat"], r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    edged("asana-token", &["1/", "2/"], r"[12]/(?:\d{10,20}/)?\d{10,20}:[0-9a-f]{32}"),
    edged("clickup-token", &["pk_"], r"pk_\d{6,12}_[A-Z0-9]{32}"),
    edged("trello-token", &["ATTA"], r"ATTA[0-9a-fA-F]{64,}"),
    edged("typeform-token", &["tfp_"], r"tfp_[\w.-]{40,}"),
    edged("contentful-token", &["CFPAT-"], r"CFPAT-[\w-]{40,}"),
    edged("hubspot-token", &["pat-na", "pat-eu"], r"pat-(?:na|eu)\d-[0-9a-f-]{36}"),
    edged("dropbox-token", &["sl."], r"sl\.(?:u\.)?[\w-]{100,}"),
    edged("mapbox-token", &["sk.eyJ", "tk.eyJ"], r"[st]k\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    edged("okta-token", &["SSWS "], r"SSWS ([\w-]{20,})"),
    edged("launchdarkly-key", &["sdk-", "api-"], r"(?:sdk|api)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    edged("readme-key", &["rdme_"], r"rdme_[a-z0-9]{60,}"),
    edged("adobe-secret", &["p8e-", "p8ea_"], r"p8e(?:-|a_)[\w-]{30,}"),
    edged("twitter-token", &["AAAAAAAAAAAAAAAAAAAA"], r"A{20,22}[A-Za-z0-9%]{60,}").alone(),
    // Other entries of the default configuration of gitleaks.
    edged("authress-key", &["sc_", "ext_", "scauth_", "authress_"], r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}"),
    edged("clickhouse-key", &["4b1d"], r"4b1d[A-Za-z0-9]{38}\b").check(Check::Mixed).alone(),
    edged("frameio-token", &["fio-u-"], r"fio-u-[\w=-]{60,}"),
    edged("intra42-secret", &["s-s4t2"], r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    edged("maxmind-key", &["_mmk"], r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b").back(36),
    edged("scalingo-token", &["tk-us-"], r"tk-us-[\w-]{48}"),
    edged("settlemint-token", &["sm_aat_", "sm_pat_", "sm_sat_"], r"sm_[aps]at_[A-Za-z0-9]{16}"),
    edged("defined-networking-token", &["dnkey-"], r"dnkey-[\w=-]{26}-[\w=-]{52}"),
    edged("harness-token", &["sat."], r"sat\.[\w-]{20,24}\.[A-Za-z0-9]{20,28}\.[A-Za-z0-9]{18,24}"),
    edged("lob-key", &["live_", "test_"], r"(?:live|test)_[0-9a-f]{35}\b"),
    edged("gocardless-token", &["live_"], r"live_[A-Za-z0-9_=-]{40}\b").check(Check::Drawn),
    // Other forms that the providers document.
    edged("fireworks-key", &["fw_"], r"fw_[A-Za-z0-9]{22,}").check(Check::Drawn).alone(),
    edged("together-key", &["tgp_v1_"], r"tgp_v1_[\w-]{40,}"),
    edged("posthog-key", &["phx_"], r"phx_[A-Za-z0-9]{40,}"),
    edged("apify-token", &["apify_api_"], r"apify_api_[A-Za-z0-9]{36}"),
    edged("e2b-key", &["e2b_"], r"e2b_[0-9a-f]{40}"),
    edged("polar-token", &["polar_oat_"], r"polar_oat_[A-Za-z0-9]{40,}"),
    // Keys and passwords without a provider.
    edged("age-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-[0-9A-Z]{50,}"),
    edged("private-key", &["xprv", "yprv", "zprv"], r"[xyz]prv[A-Za-z0-9]{100,}"),
    // The base64 of the start of a key block, as in a kubeconfig.
    glued("private-key", &["LS0tLS1CRUdJTiBQUklWQVRFIEtF", "LS0tLS1CRUdJTiBSU0EgUFJJVkFUR", "LS0tLS1CRUdJTiBFQyBQUklWQVRF", "LS0tLS1CRUdJTiBPUEVOU1NIIFBS", "LS0tLS1CRUdJTiBFTkNSWVBURUQg"], r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}=*"),
    // The base64 of tokens, URLs with passwords and accounts, as in Kubernetes secrets.
    edged("token", &["Z2hwX", "Z2hvX", "Z2hzX", "Z2l0aHViX3BhdF", "Z2xwYXQt", "c2stYW50L", "c2stcHJvai", "c2tfbGl2ZV", "eG94Yi0", "eG94cC0", "bnBtX", "aHZzL", "cHlwaS1", "QUtJQ", "ZXlKaGJHY2lPaU", "ZXlKMGVYQWlPaU", "ZXlKcmFXUWlPaU", "cG9zdGdyZXM6Ly", "bXlzcWw6Ly", "bW9uZ29kYi"], r"(?:Z2hwX|Z2hvX|Z2hzX|Z2l0aHViX3BhdF|Z2xwYXQt|c2stYW50L|c2stcHJvai|c2tfbGl2ZV|eG94Yi0|eG94cC0|bnBtX|aHZzL|cHlwaS1|QUtJQ|ZXlKaGJHY2lPaU|ZXlKMGVYQWlPaU|ZXlKcmFXUWlPaU|cG9zdGdyZXM6Ly|bXlzcWw6Ly|bW9uZ29kYi)[A-Za-z0-9+/_-]{16,}={0,2}").alone(),
    glued("private-key", &["eyJ0eXBlIjoic2VydmljZV9hY2NvdW50", "eyJ0eXBlIjogInNlcnZpY2VfYWNjb3Vud", "ewogICJ0eXBlIjogInNlcnZpY2VfYWNjb3Vud", "ewogICAgInR5cGUiOiAic2VydmljZV9hY2NvdW50"], r"e[yw][A-Za-z0-9+/]{30,}={0,2}"),
    edged("private-key", &["\"d\""], r#""d"\s*:\s*"([\w-]{40,})"#),
    edged("private-key", &["minisign"], r"minisign encrypted secret key(?:\r?\n|(?:\\r)?\\n)(RW[A-Za-z0-9+/]{50,}=*)"),
    edged("jwt", &["eyJ"], r"eyJ[\w-]{8,}\.(?:eyJ[\w-]{6,}(?:\.[\w-]*)?|[\w-]*\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})").run().check(Check::Nothing),
    edged("password-hash", &["$2a$", "$2b$", "$2y$"], r"\$2[aby]\$\d\d\$[A-Za-z0-9./]{50,}"),
    edged("password-hash", &["$1$", "$5$", "$6$", "$y$", "$7$", "$apr1$"], r"\$(?:[1567]|y|apr1)\$(?:rounds=\d+\$)?[A-Za-z0-9./]{2,32}\$[A-Za-z0-9./$]{20,}"),
    edged("password-hash", &["$argon2", "$scrypt", "$pbkdf2", "pbkdf2_sha"], r"(?:\$(?:argon2id?|scrypt|pbkdf2[a-z0-9-]*)\$|pbkdf2_sha\d+\$)[A-Za-z0-9+/=,.$-]{30,}"),
    edged("authorization", &["Bearer ", "bearer ", "BEARER "], r"(?i:bearer) +([A-Za-z0-9][A-Za-z0-9._~+/|-]{11,}=*)").check(Check::Random),
    edged("authorization", &["Basic ", "basic "], r"[Bb]asic +([A-Za-z0-9+/_-]{8,}=*)").check(Check::BasicPair),
    glued("cookie", &["PHPSESSID=", "JSESSIONID=", "ASP.NET_SessionId=", "connect.sid=", "laravel_session=", "_gitlab_session=", "sessionid="], r"[\w.]+=([A-Za-z0-9%._+/:-]{16,}=*)").check(Check::Random),
    glued("cookie", &["ession-Id: ", "ession-ID: ", "ession-id: "], r"ession-I[dD]: ([A-Za-z0-9+/_-]{20,}=*)").check(Check::Random),
    glued("signature", &["Signature=", "signature="], r"[Ss]ignature=([0-9a-f]{64}|[A-Za-z0-9%+/_~-]{40,}=*)"),
    // Passwords on command lines.
    edged("password", &["mysql", "mariadb"], r#"(?:mysql|mariadb)[a-z-]*(?: [^\n|;&]{0,200}?)? (?:-p|--password[= ])(?:'([^'\n]+)|"([^"\n]+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("password", &["sshpass "], r#"sshpass +(?:-\S+ +){0,3}?-p *(?:'([^'\n]+)|"([^"\n]+)|([^\s'"`]+))"#).check(Check::Password),
    edged("password", &["redis-cli "], r#"redis-cli(?: [^\n|;&]{0,200}?)? (?:-a|--pass) *(?:'([^'\n]+)|"([^"\n]+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("password", &["curl "], r#"curl(?: [^\n|;&]{0,300}?)? (?:-u|--user|--proxy-user|-U)[ =]?(?:'[^':\n]{1,80}:([^'\n]+)|"[^":\n]{1,80}:([^"\n]+)|[^\s'":=-][^\s'":]{0,80}:([^\s'"`]+))"#).check(Check::Password),
    edged("cookie", &["curl "], r#"curl(?: [^\n|;&]{0,300}?)? (?:-b|--cookie)[ =]?['"]?[^=\s'"]{1,40}=([^'"\s]{8,})"#).check(Check::Random),
    edged("password", &["net user "], r"net user \S+ (\S+)(?: /\S+)* /add").check(Check::Password),
    glued("password", &["BasicAuth(", "basic_auth(", "auth=(", "auth = ("], r#"(?:BasicAuth|basic_auth|auth ?= ?)\(\s{0,20}["'][^"'\n]{1,80}["']\s{0,20},\s{0,20}(?:Some\()?["']([^"'\n]{3,})"#).check(Check::Password),
    edged("password", &["docker login", "podman login", "helm registry login", "oc login", "az login", "snowsql", "ldapsearch", "ldapadd", "ldapmodify", "sqlcmd", "mongosh ", "mongodump ", "mongorestore ", "mongo "], r#"[a-z]+(?: [a-z]+){0,2}(?: [^\n|;&]{0,200}?)? -(?:p|w|P)[ =]?(?:'([^'\n]+)|"([^"\n]+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("password", &["pass:"], r"(?:-pass(?:in|out)?|-k) pass:([^\s'\x22`]+)").back(9).check(Check::Password),
    edged("password", &["smbclient ", "rpcclient "], r#"(?:smb|rpc)client(?: [^\n|;&]{0,200}?)? -U *['"]?[^\s%'"]{1,80}%([^\s'"]+)"#).check(Check::Password),
    edged("password", &["chpasswd"], r#"echo +(?:-[a-z]+ +)?['"]?[a-z_][\w-]*:([^\s'"|]+)['"]? *\| *(?:sudo +)?chpasswd"#).back(140).check(Check::Password),
    edged("password", &["login "], r"login +\S+\s+password +([^\s'\x22`]+)").check(Check::Password),
    edged("password", &["IDENTIFIED BY ", "identified by "], r"(?i:identified by) +(?:PASSWORD +)?'([^'\n]+)").check(Check::Password),
    edged("password", &["requirepass ", "masterauth "], r"(?:requirepass|masterauth) +([^\s#]+)").check(Check::Password),
    edged("password", &[":5432:", ":5433:"], r"[\w.*-]+:543[23]:[\w.*-]+:[\w.*-]+:([^\s'\x22]+)").back(80).check(Check::Password),
    edged("password", &["--password-stdin", "--with-token", "sudo -S", "--stdin", "secret create", "secret set", "--passphrase-fd", "kinit "], r#"(?:echo|printf)(?: +-[a-zA-Z]+)*(?: +['"]%s(?:\\n)?['"])? +(?:'([^'\n]+)'|"([^"\n]+)"|([^\s'"`|]+)) *\| *[^\n|]{0,120}?(?:--password-stdin|--with-token|sudo -S|--stdin|secret create|secret set|--passphrase-fd|kinit )"#).back(240).check(Check::Password),
    edged("password", &["--password-stdin", "--with-token"], r#"--(?:password-stdin|with-token)[^\n|;&]{0,80}?<<< *(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("secret", &["gh secret set"], r#"gh secret set[^\n|;&]{0,160}? (?:--body|-b)[= ]*(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("secret", &["--secret-string"], r#"--secret-string[= ]+(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("secret", &["put-parameter"], r#"put-parameter[^\n|;&]{0,240}?SecureString[^\n|;&]{0,200}? --value[= ]+(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("secret", &["put-parameter"], r#"put-parameter[^\n|;&]{0,240}? --value[= ]+(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))[^\n|;&]{0,200}?SecureString"#).check(Check::Password),
    edged("password", &["htpasswd "], r#"htpasswd(?: +-[a-zA-Z]+)* +-[a-zA-Z]*b[a-zA-Z]*(?: +[^\s-]\S*){1,2} +(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("password", &["openssl "], r#"openssl(?: [^\n|;&]{0,200}?)? -[kK] +(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("password", &["AUTH "], r#"(?:^|[\n>"'] ?)AUTH +(?:[a-z][\w-]{0,30} +)?([^\s"'\\]{4,})(?:["']|\r?\n|\\[nr]|$)"#).back(2).check(Check::Chosen),
    edged("password", &["ConvertTo-SecureString "], r#"ConvertTo-SecureString +(?:-String +)?(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+))"#).check(Check::Password),
    edged("password", &["zip ", "unzip "], r#"(?:un)?zip(?: [^\n|;&]{0,160}?)? -P *(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("password", &["7z ", "7za ", "rar ", "unrar "], r#"(?:7za?|(?:un)?rar) [a-z](?: [^\n|;&]{0,160}?)? -h?p(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("password", &["useradd ", "usermod "], r#"user(?:add|mod)(?: [^\n|;&]{0,160}?)? -p +(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#).check(Check::Password),
    edged("password", &["lftp ", "ncftp"], r#"(?:lftp|ncftp\w*)(?: [^\n|;&]{0,160}?)? -u +['"]?[^\s,'"]{1,80}[, ]([^\s'"]+)"#).check(Check::Password),
    edged("password", &["net use "], r"net use (?:\S+: +)?\\\\\S+ +([^\s/*]\S*)").check(Check::Password),
    edged("password", &["encrypt_string "], r"encrypt_string(?: +--?[a-z-]+(?:[= ][^\s'-]\S*)?)* +'([^'\n]+)").check(Check::Password),
    glued("password", &["assword:"], r#"assword:[ *]{0,2}\\?["'] *[;}]? *\{?\s{0,20}send +(?:-- +)?\\?"([^"\\\n]+)\\"#).check(Check::Password),
    // Passwords in calls, statements and forms.
    edged("password", &["type=\"password\"", "type='password'", "type=\\\"password"], r#"type=\\?["']password\\?["'][^<>]{0,200}?\bvalue=\\?["']([^"'<>\\]+)|\bvalue=\\?["']([^"'<>\\]+)\\?["'][^<>]{0,200}?type=\\?["']password\\?["']"#).back(240).check(Check::Password),
    edged("password", &["mysqli_connect(", "mysql_connect(", "mysqli(", "PDO(", "getConnection(", "imap_open(", "ftp_login(", "ldap_bind("], r#"\w+\(\s{0,20}(?:[^,()\n]{0,200},\s{0,20}){2}(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+))"#).check(Check::Password),
    glued("password", &[".login("], r#"\.login\(\s{0,20}["'][^"'\n]{1,80}["'],\s{0,20}["']([^"'\n]{3,})["']\s{0,20}\)"#).check(Check::Password),
    edged("password", &["PASSWORD '", "password '"], r"(?i:\b(?:role|user|login|alter|create|encrypted|with|group)\b)[^\n;]{0,120}?\b(?i:password) +'([^'\n]+)").back(160).check(Check::Password),
    edged("password", &["SET PASSWORD ", "set password "], r"(?i:set password)(?: (?i:for) [^=\n]{1,80}?)? ?= ?(?i:password\()?'([^'\n]+)'").check(Check::Password),
    // Links that grant access.
    glued("token", &["?code=", "&code=", "&amp;code="], r"[?&](?:amp;)?code=([\w./%~+-]{10,})").check(Check::Random),
    glued("token", &["/reset/", "/reset-password/", "/password-reset/", "/password_reset/", "/verify/", "/verify-email/", "/confirm/", "/activate/", "/invite/", "/invitations/", "/magic/", "/magic-link/"], r"/[a-z_-]+/(?:[\w-]{1,12}/)?([\w=.~-]{12,})").check(Check::Random),
    // The words of a wallet's seed phrase.
    glued("seed-phrase", &["nemonic", "NEMONIC", "eed phrase", "eed Phrase", "eedPhrase", "EED_PHRASE", "eed_phrase", "ecovery phrase", "ecovery Phrase", "eed words"], r#"[A-Za-z]+(?:[ _][Pp]hrase|_PHRASE| words)?[^\n:=(]{0,24}["']?(?: is)?[:=(\s]+["'`]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b"#).check(Check::SeedWords),
];
