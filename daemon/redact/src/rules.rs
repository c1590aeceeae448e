//! The forms of secrets: the table that the scanner uses.
//!
//! A rule is tried where one of its anchors occurs in the text. Its pattern begins at the anchor,
//! or at most [`Start::Back`](crate::rule::Start::Back) bytes before the anchor, and matches bytes,
//! not characters. The secret is the first group that matched, or the whole match if there is no
//! group. The formats come from the providers' documentation or from sample tokens; the list of
//! providers was compared with the default configuration of gitleaks (MIT, as of 2026).
//!
//! Secrets without a recognisable form (`MISTRAL_API_KEY=…`) are found by the adjacent name: see
//! [`assignment`](crate::assignment).

use crate::rule::{Check, Rule, edged, glued};

/// The names of session cookies, each with each of the signs that may follow.
macro_rules! cookies {
    ($($sign:literal)+) => {
        &[$(
            concat!("PHPSESSID", $sign),
            concat!("JSESSIONID", $sign),
            concat!("ASP.NET_SessionId", $sign),
            concat!("connect.sid", $sign),
            concat!("laravel_session", $sign),
            concat!("_gitlab_session", $sign),
            concat!("sessionid", $sign),
        )+]
    };
}
pub(super) use cookies;

/// The pattern of a command's arguments, possibly over continued lines. Quoted arguments may
/// contain any character. A quote within a word does not begin an argument of several lines.
macro_rules! args {
    () => {
        r#"(?: (?:[^\n|;&\\]|\\(?:\r?\n|.)|'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|[ =]'[^']*'|[ =]"(?:[^"\\]|\\.)*")*?)?[ \t]"#
    };
}

/// The pattern of an argument that is a password.
macro_rules! word {
    () => {
        r#"(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#
    };
}

/// The pattern of an argument that is a password, but neither a port nor a path.
macro_rules! no_port {
    () => {
        r#"(?:'([^'\n]+)'|"([^"\n]+)"|((?:[^\s'"`:\\;|&<>-][^\s'"`:\\;|&<>]{2,}|(?:\d[\d.:]*)?[^\s\d.:'"`\\;|&<>/$-][^\s'"`\\;|&<>]{2,}))(?:[\s'"`\\;|&<>]|$))"#
    };
}

/// The pattern of the text after a code of digits: no unit, no further digits and no decimals.
macro_rules! after_code {
    () => {
        r"(?:[^\w.:/ ,-]| (?:[^lbmrctL]|t[^i]|l[^io]|b[^y]|m[^si]|r[^o]|c[^h]|L[^O]|$)|,(?:[^ /]| [^/]|$)|[.:/-](?:\W|$)|$)"
    };
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
    glued("discord-webhook", &["/webhooks/"], r"/webhooks/\d{15,21}/([\w-]{40,})"),
    edged("discord-token", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"], r"[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{25,}").alone(),
    edged("discord-token", &["mfa."], r"mfa\.[\w-]{80,}"),
    edged("telegram-token", &[":AA"], r"(?:\b|bot)(\d{8,10}:AA[\w-]{32,})").back(13),
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
    edged("voyage-key", &["pa-"], r"pa-[\w-]{43}\b").check(Check::Random).alone(),
    edged("brave-key", &["BSA"], r"BSA[\w-]{27,28}\b").check(Check::Mixed).alone(),
    edged("convex-key", &["prod:", "dev:", "preview:"], r"(?:prod|dev|preview):[a-z]+-[a-z]+-\d{1,4}\|([A-Za-z0-9+/_-]{40,}=*)"),
    edged("infisical-token", &["st."], r"st\.[0-9a-f-]{24,36}\.[0-9a-f]{32}\.[0-9a-f]{32}").check(Check::Nothing),
    edged("unkey-token", &["unkey_"], r"unkey_[A-Za-z0-9]{20,}").check(Check::Mixed),
    edged("stytch-secret", &["secret-live-", "secret-test-"], r"secret-(?:live|test)-[\w-]{30,}=*").check(Check::Random),
    edged("inngest-key", &["signkey-"], r"signkey-(?:prod|test|branch)-[0-9a-f]{32,}"),
    edged("trigger-key", &["tr_prod_", "tr_dev_", "tr_stg_", "tr_preview_"], r"tr_(?:prod|dev|stg|preview)_[A-Za-z0-9]{20,}"),
    edged("cursor-key", &["key_"], r"key_[0-9a-f]{64}\b"),
    edged("intercom-token", &["dG9rO"], r"dG9rO[A-Za-z0-9+/]{50,}=*").check(Check::Drawn).alone(),
    edged("rapidapi-key", &["msh"], r"\b[A-Za-z0-9]{10}msh[A-Za-z0-9]{15}p1[A-Za-z0-9]{6}jsn[A-Za-z0-9]{12}\b").back(10),
    edged("k3s-token", &["K10"], r"K10[0-9a-f]{64}::[\w:-]{1,40}:[0-9a-z.]{22,}"),
    edged("nostr-key", &["nsec1"], r"nsec1[a-z0-9]{58}\b"),
    glued("rpc-key", &["g.alchemy.com/v2/", "infura.io/v3/"], r"(?:g\.alchemy\.com/v2|infura\.io/v3)/([\w-]{32})\b"),
    glued("ifttt-key", &["maker.ifttt.com/"], r"maker\.ifttt\.com/trigger/[\w-]+/(?:json/)?with/key/([\w-]{20,})"),
    glued("make-webhook", &[".make.com/"], r"hook\.[a-z]+\d\.make\.com/([a-z0-9]{32})\b").back(12),
    glued("healthchecks-url", &["hc-ping.com/"], r"hc-ping\.com/([0-9a-f-]{36}|[\w-]{22}/[\w-]+)").check(Check::Nothing),
    glued("mattermost-webhook", &["/hooks/"], r"/hooks/([a-z0-9]{26})\b").check(Check::Drawn),
    // Keys and passwords without a provider.
    edged("age-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-[0-9A-Z]{50,}"),
    edged("private-key", &["xprv", "yprv", "zprv"], r"[xyz]prv[A-Za-z0-9]{100,}"),
    // The base64 of the start of a key block, as in a kubeconfig.
    glued("private-key", &["LS0tLS1CRUdJTiBQUklWQVRFIEtF", "LS0tLS1CRUdJTiBSU0EgUFJJVkFUR", "LS0tLS1CRUdJTiBFQyBQUklWQVRF", "LS0tLS1CRUdJTiBPUEVOU1NIIFBS", "LS0tLS1CRUdJTiBFTkNSWVBURUQg"], r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}=*"),
    // The base64 of tokens, URLs with passwords and accounts, as in Kubernetes secrets.
    edged("token", &["Z2hwX", "Z2hvX", "Z2hzX", "Z2l0aHViX3BhdF", "Z2xwYXQt", "c2stYW50L", "c2stcHJvai", "c2tfbGl2ZV", "eG94Yi0", "eG94cC0", "bnBtX", "aHZzL", "cHlwaS1", "QUtJQ", "ZXlKaGJHY2lPaU", "ZXlKMGVYQWlPaU", "ZXlKcmFXUWlPaU", "cG9zdGdyZXM6Ly", "cG9zdGdyZXNxbDovL", "cmVkaXM6Ly", "cmVkaXNzOi8v", "YW1xcDovL", "YW1xcHM6Ly", "eyJhdXRocyI6", "bXlzcWw6Ly", "bW9uZ29kYi"], r"(?:Z2hwX|Z2hvX|Z2hzX|Z2l0aHViX3BhdF|Z2xwYXQt|c2stYW50L|c2stcHJvai|c2tfbGl2ZV|eG94Yi0|eG94cC0|bnBtX|aHZzL|cHlwaS1|QUtJQ|ZXlKaGJHY2lPaU|ZXlKMGVYQWlPaU|ZXlKcmFXUWlPaU|cG9zdGdyZXM6Ly|cG9zdGdyZXNxbDovL|cmVkaXM6Ly|cmVkaXNzOi8v|YW1xcDovL|YW1xcHM6Ly|eyJhdXRocyI6|bXlzcWw6Ly|bW9uZ29kYi)[A-Za-z0-9+/_-]{16,}={0,2}").alone(),
    glued("private-key", &["eyJ0eXBlIjoic2VydmljZV9hY2NvdW50", "eyJ0eXBlIjogInNlcnZpY2VfYWNjb3Vud", "ewogICJ0eXBlIjogInNlcnZpY2VfYWNjb3Vud", "ewogICAgInR5cGUiOiAic2VydmljZV9hY2NvdW50"], r"e[yw][A-Za-z0-9+/]{30,}={0,2}"),
    edged("private-key", &["\"d\""], r#""d"\s*:\s*"([\w-]{40,})"#),
    edged("private-key", &["minisign"], r"minisign encrypted secret key(?:\r?\n|(?:\\r)?\\n)(RW[A-Za-z0-9+/]{50,}=*)"),
    edged("jwt", &["eyJ"], r"eyJ[\w-]{8,}\.(?:eyJ[\w-]{6,}(?:\.[\w-]*)?|[\w-]*\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})").run().check(Check::Nothing),
    edged("password-hash", &["$2a$", "$2b$", "$2y$"], r"\$2[aby]\$\d\d\$[A-Za-z0-9./]{50,}"),
    edged("password-hash", &["$1$", "$5$", "$6$", "$y$", "$7$", "$apr1$"], r"\$(?:[1567]|y|apr1)\$(?:rounds=\d+\$)?[A-Za-z0-9./]{2,32}\$[A-Za-z0-9./$]{20,}"),
    edged("password-hash", &["$argon2", "$scrypt", "$pbkdf2", "pbkdf2_sha"], r"(?:\$(?:argon2id?|scrypt|pbkdf2[a-z0-9-]*)\$|pbkdf2_sha\d+\$)[A-Za-z0-9+/=,.$-]{30,}"),
    edged("authorization", &["Bearer ", "bearer ", "BEARER "], r"(?i:bearer) +([A-Za-z0-9][A-Za-z0-9._~+/|-]{11,}=*)").check(Check::Random),
    edged("authorization", &["Basic ", "basic "], r"[Bb]asic +([A-Za-z0-9+/_-]{8,}=*)").check(Check::BasicPair),
    glued("cookie", cookies!("="), r"[\w.]+=([A-Za-z0-9%._+/:-]{16,}=*)").check(Check::Random),
    // The exports of browsers and UI tests, as JSON and as `cookies.txt`.
    glued("cookie", cookies!("\"" "\\\"" "\t"), r#"[\w.]+(?:\t|\\?"(?:\s{0,20},\s{0,20}\\?"\w{1,20}\\?"\s{0,4}:\s{0,4}(?:\\?"[^"\\\n]{0,80}\\?"|[\w.]{1,24})){0,8}?\s{0,20},\s{0,20}\\?"value\\?"\s{0,4}:\s{0,4}\\?")([A-Za-z0-9%._+/:-]{16,}=*)"#).command().check(Check::Random),
    glued("cookie", &["ession-Id: ", "ession-ID: ", "ession-id: "], r"ession-I[dD]: ([A-Za-z0-9+/_-]{20,}=*)").check(Check::Random),
    glued("signature", &["Signature=", "signature="], r"[Ss]ignature=([0-9a-f]{64}|[A-Za-z0-9%+/_~-]{40,}=*)"),
    // Passwords on command lines.
    edged("password", &["mysql", "mariadb"], concat!(r"(?:mysql|mariadb)[a-z-]*", args!(), r"(?:-p|--password[= ])", word!())).command(),
    edged("password", &["sshpass "], r#"sshpass +(?:-\S+ +){0,3}?-p *(?:'([^'\n]+)|"([^"\n]+)|([^\s'"`]+))"#).check(Check::Password),
    edged("password", &["redis-cli "], concat!(r"redis-cli", args!(), r"(?:-a|--pass) *", word!())).command(),
    edged("password", &["curl "], concat!(r"curl", args!(), r#"(?:(?:-u|--user|--proxy-user|-U)[ =]?|-[#afgijklnsvGIJLNORSV]{1,8}u +)(?:'[^':\n]{1,80}:([^'\n]+)|"[^":\n]{1,80}:([^"\n]+)|[^\s'":=-][^\s'":]{0,80}:([^\s'"`]+))"#)).command(),
    edged("cookie", &["curl "], concat!(r"curl", args!(), r#"(?:-b|--cookie)[ =]?['"]?[^=\s'"]{1,40}=([^'"\s]{8,})"#)).command().check(Check::Random),
    edged("password", &["net user "], r"net user \S+ (\S+)(?: /\S+)* /add").check(Check::Password),
    glued("password", &["BasicAuth(", "basic_auth(", "auth=(", "auth = ("], r#"(?:BasicAuth|basic_auth|auth ?= ?)\(\s{0,20}["'][^"'\n]{1,80}["']\s{0,20},\s{0,20}(?:Some\()?["']([^"'\n]{3,})"#).check(Check::Password),
    edged("password", &["docker login", "podman login", "nerdctl login", "helm registry login", "oc login", "az login", "az acr login", "buildah login", "oras login", "crane auth login", "expo login", "snowsql", "mongosh ", "mongodump ", "mongorestore "], concat!(r"[a-z]+(?: [a-z]+){0,2}", args!(), r"-(?:p|w|P)[ =]?", word!())).command(),
    // `-p` is the port.
    edged("password", &["ldapsearch", "ldapadd", "ldapmodify", "ldappasswd"], concat!("ldap[a-z]+", args!(), r"-w[ =]?", word!())).command(),
    // `mongo` is also the name of containers and folders, so the user or the start of a command is
    // required.
    edged("password", &["mongo "], concat!("mongo", args!(), r"(?:(?:-u|--username)[ =]?[^\s=-]\S*", args!(), "-p[ =]?", no_port!(), "|-p[ =]?", no_port!(), args!(), r"(?:-u|--username)[ =]?[^\s=-])")).command(),
    glued("password", &["mongo "], concat!(r"(?:^|[\n;&|`(] ?|\$ )mongo(?: [\w.:/]+| --?[a-z]+[= ][\w.:/]+){0,3} -p[ =]?", no_port!())).back(2).check(Check::Told),
    edged("password", &["sqlcmd", "mosquitto_", "ipmitool "], concat!(r"(?:sqlcmd|mosquitto_[a-z]+|ipmitool)", args!(), r"-P *", word!())).command(),
    edged("password", &["cqlsh ", "twine upload ", "cypher-shell ", "evil-winrm ", "crackmapexec ", "psexec ", "rdesktop "], concat!(r"[a-z-]+(?: upload)?", args!(), r"-p *", word!())).command(),
    edged("password", &["altool ", "bcp ", "dotnet nuget ", "supabase "], concat!(r"[a-z]+", args!(), r"-[pP] *", word!())).command().check(Check::Told),
    edged("password", &["pass:"], r"(?:-pass(?:in|out)?|-k) pass:([^\s'\x22`]+)").back(9).check(Check::Password),
    edged("password", &["smbclient ", "rpcclient "], r#"(?:smb|rpc)client(?: [^\n|;&]{0,200}?)? -U *['"]?[^\s%'"]{1,80}%([^\s'"]+)"#).check(Check::Password),
    edged("password", &["chpasswd"], r#"echo +(?:-[a-z]+ +)?['"]?[a-z_][\w-]*:([^\s'"|]+)['"]? *\| *(?:sudo +)?chpasswd"#).back(140).check(Check::Password),
    edged("password", &["login "], r"(?:\n[ \t]{0,8}login +\S+\s+|^[ \t]{0,8}login +\S+[ \t]*\r?\n[ \t]*)password +([^\s'\x22`]+)").back(9).check(Check::Password),
    edged("password", &["machine ", "default login "], r"(?:machine +\S+|default)\s+login +\S+\s+password +([^\s'\x22`]+)").check(Check::Password),
    edged("password", &["IDENTIFIED BY ", "identified by "], r"(?i:identified by) +(?:PASSWORD +)?'([^'\n]+)").check(Check::Password),
    edged("password", &["requirepass ", "masterauth "], r"(?:requirepass|masterauth) +([^\s#]\S*)").check(Check::Password),
    edged("password", &[":5432:", ":5433:"], r"[\w.*-]+:543[23]:[\w.*-]+:[\w.*-]+:([^\s'\x22]+)").back(80).check(Check::Password),
    // Users with passwords outside of URLs.
    glued("password", &["@tcp(", "@unix("], r"[\w.%-]{0,64}:([^\s'\x22`]{2,100})@(?:tcp|unix)\(").back(160).check(Check::Password),
    edged("password", &["sqlplus ", "oracle:thin:"], r"(?:sqlplus(?: +-\w+)* +['\x22]?|oracle:thin:)\w+/([^\s'\x22@]+)@").check(Check::Password),
    edged("password", &["CURLOPT_USERPWD"], r#"CURLOPT_USERPWD["']? *(?:,|=>) *["'][^"':\n]{1,80}:([^"'\n]+)["']"#).check(Check::Password),
    edged("password", &["ssh ", "sftp ", "scp ", "impacket-"], r"(?:ssh|sftp|scp|impacket-[a-z]+)(?: -[a-zA-Z]+(?: \d+)?){0,3} [\w./-]{1,40}:([^\s@'\x22/]+)@[\w.-]+").check(Check::Told),
    glued("password", &["]:587 ", "]:465 ", "]:25 "], r"\]:\d+ +[\w.@-]{1,80}:([^\s'\x22]+)").check(Check::Password),
    // Pairs of a user and a password.
    glued("password", &["redentials:", "redential:", "reds:", "ogin:", "ogins:", "ogin data:", "ccess data:", "daten:", "ugang:", "user/pass"], r#"(?:redentials?|reds|ogins?|(?:ogin|ccess) data|daten|ugang|user/pass(?:word)? ?)[:=][*]{0,2}\s{0,3}[`'"]?[\w.@+-]{2,40}[`'"]?(?: ?/ ?|:| - |, | \| |\n)[`'"]?([^\s'"`,]*[^\s'"`,.;:?)\]])"#).narrow().check(Check::ClearlyTold),
    glued("password", &["redentials ", "creds ", "og in with ", "og in as ", "ogin with ", "ogin is ", "ogin as ", "ign in with ", "ign in as ", "nmelden mit ", "nmeldung mit "], r#"(?:redentials|creds|ogin is|(?:og in|ogin|ign in|nmelden|nmeldung) (?:with|as|mit))(?: are)? [`'"]?(?:[\w.@+-]{2,40}[`'"]?(?: ?/ ?|:)|(?:[a-z0-9][\w.@+-]{1,39}|[A-Z][\w.+-]{0,39}@[\w.-]{1,40}|Admin|Administrator|Root)[`'"]?(?: and | und ))[`'"]?([^\s'"`,]*[^\s'"`,.;:?)\]])"#).narrow().check(Check::ClearlyTold),
    glued("password", &[".com / ", ".org / ", ".net / ", ".de / ", ".io / ", ".dev / ", ".test / ", ".local / "], r"[\w.+-]{1,60}@[\w.-]{1,60} / [`'\x22]?([^\s'\x22`,]*[^\s'\x22`,.;:?)\]])").back(100).check(Check::ClearlyTold),
    glued("password", &[".com:", ".org:", ".net:", ".de:", ".io:", ".dev:", ".test:", ".local:"], r"[\w.+-]{1,60}@[\w.-]{1,60}:([^\s'\x22`,:/]*[!#$%^*][^\s'\x22`,/]*)").back(100).check(Check::ClearlyTold),
    // Codes of a few digits.
    edged("pin", &["PIN"], concat!(r#"PIN(?:[ -][Cc]ode| number)?(?: \([^()\n]{1,20}\))?(?: (?:is|was|ist|lautet|est|es|\xc3[\xa8\xa9])(?: now| set to)?| to)?(?: ?[:=]| )[ *`'"]{0,4}(\d{4,8})"#, after_code!())).narrow().check(Check::Nothing),
    edged("pin", &["PIN"], concat!(r#"PIN(?:[ -][Cc]ode)? (?:of|for|on|to|f[\x80-\xff]{2}r|vo[mn]|der|des?|del|du|para|pour)(?: [^\s:=,.;]{1,20}){1,4}?(?: (?:is|was|ist|lautet|est|es)| ?[:=])[ :*`'"]{0,4}(\d{4,8})"#, after_code!())).narrow().check(Check::PinOfPerson),
    edged("pin", &["pin:", "Pin:", "pin :", "Pin :", "pin=", "Pin=", "pin =", "Pin =", "pin i", "Pin i", "pin was", "Pin was", "pin e", "Pin e", "pin lautet", "Pin lautet", "pin code", "Pin code", "pin-code", "Pin-code", "pin number", "Pin number", "pin**:", "Pin**:", "pin`:", "pin':", "pin\":", "Pin\":"], concat!(r#"[Pp]in(?:(?:[ -][Cc]ode| number)?(?:\*\*|[`'"])?(?: (?:is|was|ist|lautet|est|es)(?: now| set to)? ?:?| ?[:=])|[ -]code| number)[ *`'"]{0,4}(\d{4,8})"#, after_code!())).narrow().check(Check::PinOfPerson),
    glued("pin", &["Pin:", "Pin :", "Pin=", "Pin =", "Pin\":"], concat!(r#"[a-z]Pin["']?(?: ?[:=]) ?["']?(\d{4,8})"#, after_code!())).back(1).check(Check::PinOfPerson),
    edged("pin", &["pin of ", "pin for ", "pin to ", "pin f"], concat!(r#"pin(?: (?:of|for|f[\x80-\xff]{2}r)(?: (?:the|my|our|your|his|her|de[nr]|die|das))?(?: [a-z]{2,12})? (?:alarm|app|account|card|door|garage|gate|iphone|lock|phone|safe|sim|tablet|voicemail|wallet|yubikey)(?: is|:)) (\d{4,8})"#, after_code!())).narrow().check(Check::PinOfPerson),
    edged("pin", &["PUK"], concat!(r"PUK[12]?(?:[ -][Cc]ode)?(?: is| ist| lautet)?(?: ?[:=]| ) ?(\d{8})", after_code!())).narrow().check(Check::Nothing),
    glued("pin", &["nter pin ", "nter the pin ", "my pin ", "your pin "], concat!(r"(?:nter|nter the|my|your) pin (\d{4,8})", after_code!())).narrow().check(Check::PinOfPerson),
    edged("pin", &["door code", "Door code", "gate code", "Gate code", "garage code", "Garage code", "keypad code", "Keypad code", "lockbox code", "Lockbox code"], concat!(r#"(?:[Dd]oor|[Gg]ate|[Gg]arage|[Kk]eypad|[Ll]ockbox) code(?: is| was| ?[:=])[ *`'"]{1,4}(\d{4,8})"#, after_code!())).narrow().check(Check::Nothing),
    edged("pin", &["\"pin\"", "\"PIN\""], r#""(?i:pin)"\s{0,4}:\s{0,4}"?(\d{4,8})(?:["\s,}\]]|$)"#).narrow().check(Check::Nothing),
    edged("one-time-code", &["\"otp\"", "\"OTP\""], r#""(?i:otp)"\s{0,4}:\s{0,4}"?(\d{4,8})(?:["\s,}\]]|$)"#).narrow().check(Check::Nothing),
    edged("one-time-code", &["OTP ", "2FA", "2fa", "MFA", "mfa", "otp", "totp"], concat!(r#"(?:OTP|2FA|2fa|MFA|mfa|t?otp)(?:[ _]code|[ _]token)?(?:["']? ?[:=][ *`'"]{0,4}|(?: is| ist)?[ *`'"]{1,4})(\d{6}|\d{3}[ -]\d{3})"#, after_code!())).narrow().check(Check::Nothing),
    edged("one-time-code", &["Enter code ", "enter code ", "Enter the code ", "enter the code ", "Enter this code ", "enter this code ", "Type the code ", "type the code ", "Your code is", "your code is", "Your code:", "your code:", "My code is", "my code is", "My code:", "my code:", "SMS says", "sms says", "Authenticator says", "authenticator says", "Authenticator shows", "authenticator shows"], concat!(r#"(?:[Ee]nter(?: the| this)? code|[Tt]ype the code|(?:[Yy]our|[Mm]y) code(?: is|:)|(?:SMS|sms|[Aa]uthenticator) (?:says|shows))[ :*`'"]{1,4}(\d{6}|\d{3} \d{3})"#, after_code!())).narrow().check(Check::Nothing),
    edged("one-time-code", &["Use code ", "use code ", "Use the code ", "use the code ", "Use this code ", "use this code "], r#"[Uu]se(?: the| this)? code [*`'"]{0,3}(\d{6}|\d{3}[ -]\d{3})[*`'"]{0,3} to (?:log ?in|sign ?in|(?:confirm|verify) your)\b"#).narrow().check(Check::Nothing),
    edged("one-time-code", &["code: ", "Code: ", "code is ", "Code is ", "Use code ", "use code ", "Use the code ", "use the code ", "Use this code ", "use this code "], concat!(r#"(?:[Cc]ode(?: is|:)|[Uu]se(?: the| this)? code) [*`'"]{0,3}(\d{6}|\d{3}[ -]\d{3})"#, after_code!())).narrow().check(Check::LoginCode),
    glued("one-time-code", &[" as the verification", " as verification", " as the one-time", " as the 2FA", " as the MFA", " as the OTP", " as OTP", " as 2FA"], r"(?:^|[^\w.:/-])(\d{6}|\d{3}[ -]\d{3})[`'\x22]? as (?:the )?(?:verification|one-time|2FA|MFA|OTP)").back(12).check(Check::Nothing),
    glued("recovery-code", &["ecovery code", "ecovery Code", "ackup code", "ackup Code", "ECOVERY CODE", "ACKUP CODE"], r"(?:ecovery|ackup|ECOVERY|ACKUP) (?:[Cc]odes?|CODES?)[^\n:]{0,40}:\s{0,4}((?:[ \t]{0,4}(?:[-*]|\d{1,2}[.)])?[ \t]{0,4}(?:\d{4,5} \d{4,5}|[A-Za-z0-9]{2,8}(?:-[A-Za-z0-9]{3,8}){1,4}|[A-Za-z]{0,8}\d[A-Za-z0-9]{4,11})[,;]?(?:\s{1,4}|$)){1,20})").check(Check::RecoveryCodes),
    glued("recovery-code", &["ecovery key", "ecovery Key", "ecovery password", "ecovery Password"], r"ecovery (?:[Kk]ey|[Pp]assword)(?: is)?:?\s{1,4}((?:[A-Z0-9]{4,6}-){3,7}[A-Z0-9]{4,6})\b"),
    // Numbers of cards and accounts.
    glued("card-number", &["card", "Card", "CARD", "isa ", "isa:", "VISA", "astercard", "asterCard", "Amex", "amex"], r"(?:[Cc]ard|CARD|isa|VISA|aster[Cc]ard|[Aa]mex)[^\n\d]{0,24}(\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}|\d{4}[ -]\d{6}[ -]\d{5}|\d{15,16})(?:\D|$)").narrow().check(Check::CardNumber),
    glued("account-number", &["IBAN", "iban", "Iban"], r#"(?:IBAN|[Ii]ban)["']?[^\w\n]{0,3}(?: is| ist| lautet)?[ :="'`]{1,4}([A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8})\b"#).narrow().check(Check::AccountNumber),
    edged("one-time-code", &["OTP", "TOTP"], concat!(r#"T?OTP(?: code)?(?: is| ist| lautet| ?[:=]|[ _-][Cc](?:ode|ODE) ?[:=])[ :*`'"]{0,4}(\d{4,8}|\d{3}[ -]\d{3})"#, after_code!())).narrow().check(Check::Nothing),
    glued("one-time-code", &["erification code", "erification_code", "erificationCode", "ERIFICATION_CODE", "erification Code", "ne-time code", "ne-time password", "ne-time passcode", "ne time password", "ne time code", "uthenticator code", "onfirmation code", "2FA code", "MFA code", "ign-in code", "tigungscode", "erifizierungscode", "icherheitscode"], concat!(r#"(?:[A-Za-z0-9]+[ _-]?){0,2}?(?:[Cc]ode|CODE|pass(?:word|code)|[a-z\x80-\xff]+code)["']?(?: for [^\n:=]{1,40}?(?:(?: is| ist| lautet) | ?[:=])|(?: is| ist| lautet)?(?: ?[:=]| ))[ *`'"]{0,4}((?:G-)?\d{4,8}|\d{3}[ -]\d{3})"#, after_code!())).narrow().check(Check::Nothing),
    // Only these kinds of codes, because programmers also call their programs `code`.
    glued("one-time-code", &["ecurity code", "uthentication code", "ogin code"], concat!(r#"(?:[A-Za-z0-9]+[ _-]?){0,2}?(?:[Cc]ode|CODE|pass(?:word|code)|[a-z\x80-\xff]+code)["']?(?: for [^\n:=]{1,40}?)? ?[:=][ *`'"]{0,4}((?:G-)?\d{4,8}|\d{3}[ -]\d{3})"#, after_code!())).narrow().check(Check::Nothing),
    glued("one-time-code", &[" is your "], r"(?:^|[^\w.:/-])((?:G-)?\d{4,8}|\d{3}[ -]\d{3}) is your (?:(?:[A-Z0-9a-np-z]|o[a-vx-z])[A-Za-z0-9 -]{0,40}?)?(?:code|OTP|password|passcode|PIN)\b").back(12).check(Check::Nothing),
    // Values on the line after a label.
    edged("password", &["Password for the ["], r"Password for the \[[\w.-]+\] user successfully reset\.\s+New value: (\S+)").check(Check::Password),
    // In the log of the first start of MySQL.
    edged("password", &["temporary password is generated for"], r#"temporary password is generated for [^\s@]+@\S+: ([^\s"'`\\]+)"#).check(Check::Password),
    edged("password", &["password to proceed to installation"], r"password to proceed to installation:\s+([0-9a-f]{32})\b").check(Check::Nothing),
    edged("password", &["--password-stdin", "--with-token", "sudo -S", "--stdin", "secret create", "secret set", "secret put", "--passphrase-fd", "kinit ", "secrets create", "secrets versions add", "vercel env add", "cryptsetup "], r#"(?:echo|printf)(?: +-[a-zA-Z]+)*(?: +['"]%s(?:\\n)?['"])? +(?:'([^'\n]+)'|"([^"\n]+)"|([^\s'"`|]+)) *\| *[^\n|]{0,120}?(?:--password-stdin|--with-token|sudo -S|--stdin|secrets? create|secrets versions add|vercel env add|secret (?:set|put)|--passphrase-fd|kinit |cryptsetup )"#).back(240).check(Check::Password),
    edged("password", &["passwd", "smbpasswd"], r#"(?:(?:echo|printf|yes)(?: +-[a-zA-Z]+)* +(?:'([^'\n]+)'|"([^"$\n]+)"|([^\s'"`|$]+))|\( *echo +(?:'([^'\n]+'; *echo +'[^'\n]+)'|"([^"$\n]+"; *echo +"[^"$\n]+)"|([^\s'"`|;$]+; *echo +[^\s'"`|;$)]+)) *\)) *\| *(?:sudo +)?(?:smb)?passwd(?:\s|$)"#).back(240).check(Check::Password),
    edged("password", &["--password-stdin", "--with-token"], concat!(r"--(?:password-stdin|with-token)[^\n|;&]{0,80}?<<< *", word!())).check(Check::Password),
    edged("password", &["sudo -S", "vercel env add", "chpasswd", "secret create ", "secret put ", "p4 login", "kinit ", "--passphrase-fd", "cryptsetup "], concat!(r"(?:sudo -S|vercel env add|chpasswd|secret (?:create|put)|p4 login|kinit|--passphrase-fd|cryptsetup)[^\n|;&<]{0,120}<<< *", word!())).check(Check::Password),
    edged("password", &["ssh-keygen ", "wpa_passphrase ", "vault kv put "], concat!(r"(?:ssh-keygen", args!(), r"-N +|wpa_passphrase +\S+ +|vault kv put +\S+ +value=)", word!())).command().check(Check::ClearlyTold),
    edged("password", &["http-basic."], concat!(r"http-basic\.\S+ +\S+ +", word!())).check(Check::Password),
    edged("password", &["http -a ", "https -a "], r"https? -a +['\x22]?[\w.@-]{1,80}:([^\s'\x22]+)").check(Check::Password),
    edged("secret", &["gh secret set"], concat!(r"gh secret set[^\n|;&]{0,160}? (?:--body|-b)[= ]*", word!())).check(Check::Password),
    edged("secret", &["--secret-string"], concat!(r"--secret-string[= ]+", word!())).check(Check::Password),
    edged("secret", &["put-parameter"], concat!(r"put-parameter[^\n|;&]{0,240}?SecureString[^\n|;&]{0,200}? --value[= ]+", word!())).check(Check::Password),
    edged("secret", &["put-parameter"], concat!(r"put-parameter[^\n|;&]{0,240}? --value[= ]+", word!(), r"[^\n|;&]{0,200}?SecureString")).check(Check::Password),
    edged("password", &["htpasswd ", "mosquitto_passwd "], concat!(r"(?:htpasswd|mosquitto_passwd)(?: +-[a-zA-Z]+)* +-[a-zA-Z]*b[a-zA-Z]*(?: +[^\s-]\S*){1,2} +", word!())).check(Check::Password),
    edged("password", &["openssl "], concat!(r"openssl(?: [^\n|;&]{0,200}?)? -[kK] +", word!())).check(Check::Password),
    edged("password", &["AUTH "], r#"(?:^|[\n>"'] ?)AUTH +(?:[a-z][\w-]{0,30} +)?([^\s"'\\]{4,})(?:["']|\r?\n|\\[nr]|$)"#).back(2).check(Check::Chosen),
    edged("password", &["ConvertTo-SecureString "], r#"ConvertTo-SecureString +(?:-String +)?(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+))"#).check(Check::Password),
    edged("password", &["zip ", "unzip "], concat!(r"(?:un)?zip(?: [^\n|;&]{0,160}?)? -P *", word!())).check(Check::Password),
    edged("password", &["7z ", "7za ", "rar ", "unrar "], concat!(r"(?:7za?|(?:un)?rar) [a-z](?: [^\n|;&]{0,160}?)? -h?p", word!())).check(Check::Password),
    edged("password", &["useradd ", "usermod "], concat!(r"user(?:add|mod)(?: [^\n|;&]{0,160}?)? -p +", word!())).check(Check::Password),
    edged("password", &["lftp ", "ncftp"], r#"(?:lftp|ncftp\w*)(?: [^\n|;&]{0,160}?)? -u +['"]?[^\s,'"]{1,80}[, ]([^\s'"]+)"#).check(Check::Password),
    edged("password", &["net use "], r"net use (?:\S+: +)?\\\\\S+ +([^\s/*]\S*)").check(Check::Password),
    edged("password", &["encrypt_string "], r"encrypt_string(?: +--?[a-z-]+(?:[= ][^\s'-]\S*)?)* +'([^'\n]+)").check(Check::Password),
    glued("password", &["assword:"], r#"assword:[ *]{0,2}\\?["'] *[;}]? *\{?\s{0,20}send +(?:-- +)?\\?"([^"\\\n]+)\\"#).check(Check::Password),
    glued("secret", &["SecretString\""], r#"SecretString"\s*:\s*"([^"{\\\n][^"\n]*)""#).check(Check::Password),
    edged("password", &["\"random_password\""], r#""random_password"[^\n}]{0,400}?"result":\s*"([^"\n]+)""#).check(Check::Password),
    glued("secret", &["\" -> \""], r#"(?i:password|passwd|secret|token|api_key)"?\s*=\s*"[^"\n]*" -> "([^"\n]+)"#).back(200).check(Check::Password),
    // Passwords in calls, statements and forms.
    glued("password", &["NetworkCredential(", "PasswordAuthentication(", "PasswordCredentials(", "WiFi.begin("], r#"[A-Za-z.]+\(\s{0,20}"[^"\n]{1,80}",\s{0,20}"([^"\n]{3,})""#).check(Check::Password),
    glued("password", &["bcrypt.hash", "hashSync(", "password_hash(", "Hash::make(", "create_superuser(", "create_user(", "createUser("], r#"[\w.:']+\)?\.?\w*\((?:[^()\n]{0,120},\s{0,20})?b?(?:'([^'\n]{6,})'|"([^"\n]{6,})")"#).check(Check::ClearlyTold),
    glued("secret", &["jwt.sign(", "jwt.encode(", "createHmac("], r#"[\w.]+\([^()\n]{0,160}?,\s{0,20}(?:'([^'\n]{8,})'|"([^"\n]{8,})")"#).check(Check::ClearlyTold),
    glued("password", &["btoa('", "btoa(\"", "Buffer.from('", "Buffer.from(\""], r#"\w+\(["'][\w.@+-]{1,60}:([^"'\n]{3,})["']"#).check(Check::Password),
    edged("password", &["IDENTIFIED BY \""], r#"IDENTIFIED BY +"([^"\n]+)"#).check(Check::Password),
    edged("password", &["identified by \""], r#"identified by +"([^"\n]+)"#).check(Check::Told),
    edged("password", &["IDENTIFIED WITH ", "identified with "], r#"(?i:identified with) +\S+ +(?i:by) +['"]([^'"\n]+)"#).check(Check::Password),
    // What UI tests type into password fields.
    glued("password", &["assword' }).fill(", "assword\" }).fill(", "assword\"]').fill(", "assword\"]').type(", "assword']\").fill(", "assword')).typeText(", "assword/i), ", "assword', with: ", "assword\", with: ", "assword\" with ", "querySelector('#password').value = ", "asswordInput.value = ", "asswordField.value = "], r#"[^\n]{1,60}?(?:fill\(|type\(|typeText\(|/i\), |with:? |value = )(?:'([^'\n]+)|"([^"\n]+))"#).check(Check::Password),
    glued("password", &["\"Password\" [ref="], r#""Password" \[ref=\w+\]: (\S+)"#).check(Check::Told),
    edged("password", &["type=\"password\"", "type='password'", "type=\\\"password"], r#"type=\\?["']password\\?["'][^<>]{0,200}?\bvalue=(?:\\?"([^"<>\\]+)|\\?'([^'<>\\]+))|\bvalue=(?:\\?"([^"<>\\]+)\\?"|\\?'([^'<>\\]+)\\?')[^<>]{0,200}?type=\\?["']password\\?["']"#).back(240).check(Check::Password),
    edged("password", &["mysqli_connect(", "mysql_connect(", "mysqli(", "PDO(", "getConnection(", "imap_open(", "ftp_login(", "ldap_bind("], r#"\w+\(\s{0,20}(?:[^,()\n]{0,200},\s{0,20}){2}(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+))"#).check(Check::Password),
    glued("password", &[".login("], r#"\.login\(\s{0,20}["'][^"'\n]{1,80}["'],\s{0,20}["']([^"'\n]{3,})["']\s{0,20}\)"#).check(Check::Password),
    edged("password", &["PASSWORD '", "password '"], r"(?i:\b(?:role|user|login|alter|create|encrypted|with|group)\b)[^\n;]{0,120}?\b(?i:password) +'([^'\n]+)").back(160).check(Check::Password),
    edged("password", &["SET PASSWORD ", "set password "], r"(?i:set password)(?: (?i:for) [^=\n]{1,80}?)? ?= ?(?i:password\()?'([^'\n]+)'").check(Check::Password),
    edged("password", &["rabbitmqctl "], concat!(r"rabbitmqctl [^\n|;&]{0,60}?(?:add_user|change_password|authenticate_user) +[\w.@-]+ +", word!())).check(Check::Password),
    edged("password", &["mc alias set "], concat!(r"mc alias set +\S+ +\S+ +\S+ +", word!())).check(Check::Told),
    edged("password", &["bw login ", "bw unlock "], concat!(r"bw (?:login +\S+@\S+|unlock) +", word!())).check(Check::Told),
    edged("password", &["bundle config "], concat!(r"bundle config +(?:set +)?(?:--\w+ +)?[\w-]+\.[\w.-]+ +[\w.@-]+:", word!())).check(Check::Password),
    edged("password", &["security "], concat!(r"security (?:[a-z]+-keychain", args!(), r"-p *|add-(?:generic|internet)-password", args!(), r"-w *)", word!())).command(),
    edged("password", &["send \"", "send -- \""], r#"send (?:-- )?"([^"\\\n]+)\\[rn]""#).check(Check::ClearlyTold),
    edged("password", &["MD5('", "md5('", "SHA1('", "sha1('", "SHA2('", "sha2('", "digest('", "PASSWORD('"], r"(?i:passw[a-z_]*|pwd)[\x22`]? ?= ?(?i:md5|sha1|sha2|digest|password)\('([^'\n]{3,})'").back(40).check(Check::Password),
    glued("secret", &["Fernet("], r#"Fernet\(b?['"]([\w=-]{43,44})['"]"#).check(Check::Random),
    edged("secret", &["AES.new("], r#"AES\.new\(b?['"]([^'"\n]{16,32})['"]"#).check(Check::ClearlyTold),
    edged("password", &["cifs "], r#"cifs [^\n|;&]{0,200}?[ ,]pass=([^\s'"`,]+)"#).narrow().check(Check::Password),
    edged("password", &["xfreerdp"], concat!(r"xfreerdp[^\n|;]{0,200}? /p:", word!())).check(Check::Password),
    edged("password", &["etcdctl "], concat!(r"etcdctl(?: [^\n|;&]{0,200}?)? --user[= ][\w.-]+:", word!())).check(Check::Password),
    edged("password", &["stats auth "], r"stats auth +[\w.-]+:(\S+)").check(Check::Password),
    edged("password", &["ACL SETUSER ", "acl setuser "], r"(?i:acl setuser) +\S+[^\n>]{0,100}? >([^\s'\x22]+)").check(Check::Password),
    edged("wandb-key", &["wandb login "], r"wandb login +(?:--relogin +)?([0-9a-f]{40})\b"),
    edged("password", &["echo ", "printf "], r#"(?:echo|printf)(?: +-[ne]+)? +(?:'([^'\n]{6,100})'|"([^"\n]{6,100})"|([^\s'"`|>]{6,100})) *>>? *[^\s;|&>]{0,80}?(?:passw|_pass|secret|token|credential)"#).narrow().check(Check::ClearlyTold),
    glued("secret", &["SecureString\""], r#"SecureString"\s*,\s*"Value"\s*:\s*"([^"\n]+)""#).check(Check::Password),
    glued("secret", &["vault.azure.net/secrets/"], r#"vault\.azure\.net/secrets/[^{}\x60]{0,400}?"value":\s*"([^"\n]+)""#).check(Check::ClearlyTold),
    // What a person announces or stores outside of a password field.
    glued("password", &["assword changed", "assword has changed", "assword was changed"], r#"assword (?:has |was )?changed[,.:;]? (?:it is|it's|it\xe2\x80\x99s|now)(?: now)?:? [`'"]?([^\s'"`,]*[^\s'"`,.;:?)\]])"#).narrow().check(Check::ClearlyTold),
    glued("password", &["ifi: ", "iFi: ", "i-Fi: ", "WLAN: "], r#"(?:i-?[Ff]i|WLAN): [^\n/|:]{1,40}?(?: / | \| |/)[`'"]?([^\s'"`,]*[^\s'"`,.;:?)\]])"#).narrow().check(Check::ClearlyTold),
    edged("password", &["WIFI:"], r#"WIFI:(?:[A-Z]:[^;\n]{0,64};){0,4}P:((?:[^;\\\n]|\\.){3,70});"#).check(Check::Password),
    glued("password", &["pp password", "pp Password", "pp_password", "PP_PASSWORD", "ppPassword", "pecific password"], r#"(?:pp[ _]?|PP_|pecific )(?:[Pp]assword|PASSWORD)["']?(?: is)?\s{0,2}[:=]?\s{0,2}["'`]?([a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4})(?:\W|$)"#).narrow().check(Check::Random),
    edged("password", &["variable \""], r#"variable "[\w-]{0,60}(?:password|passwd|passphrase)"\s*\{[^{}]{0,300}?\bdefault\s*=\s*"([^"\n]+)""#).check(Check::Password),
    edged("secret", &["variable \""], r#"variable "[\w-]{0,60}(?:secret|secret_key|api_key|access_key|token)"\s*\{[^{}]{0,300}?\bdefault\s*=\s*"([^"\n]+)""#).check(Check::ClearlyTold),
    edged("secret", &["--from-literal"], concat!(r"--from-literal[= ]['\x22]?[\w.-]+=", word!())).narrow().check(Check::OfKubernetes),
    edged("password", &["base64"], r#"(?:echo|printf) +(?:-n +)?(?:'(?:[\w.@-]{1,40}:)?([^'\n]{6,100})'|"(?:[\w.@-]{1,40}:)?([^"\n]{6,100})"|(?:[\w.@-]{1,40}:)?([^\s'"|:]{6,100})) *\| *base64(?: +-w *0| +--wrap=0)?\s*(?:$|[\n|)>;&`])"#).back(160).check(Check::ClearlyTold),
    glued("password", &["crypt('"], r"crypt\('([^'\n]{3,})' *, *gen_salt").check(Check::Password),
    glued("password", &["reds = (", "reds=(", "reds = [", "entials = (", "entials=(", "entials = ["], r#"(?:reds|entials) ?= ?[(\[]\s{0,20}["'][^"'\n]{1,80}["'],\s{0,20}["']([^"'\n]{3,})["']"#).check(Check::ClearlyTold),
    glued("n8n-webhook", &["/webhook/", "/webhook-test/"], r"/webhook(?:-test)?/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\b"),
    // Links that grant access.
    glued("token", &["?code=", "&code=", "&amp;code="], r"[?&](?:amp;)?code=([\w./%~+-]{10,})").check(Check::Random),
    glued("token", &["/reset/", "/reset-password/", "/password-reset/", "/password_reset/", "/verify/", "/verify-email/", "/confirm/", "/activate/", "/invite/", "/invitations/", "/magic/", "/magic-link/"], r"/[a-z_-]+/(?:[\w-]{1,12}/)?([\w=.~-]{12,})").check(Check::Random),
    // The words of a wallet's seed phrase.
    glued("seed-phrase", &["nemonic", "NEMONIC", "eed phrase", "eed Phrase", "eedPhrase", "EED_PHRASE", "eed_phrase", "ecovery phrase", "ecovery Phrase", "eed words"], r#"[A-Za-z]+(?:[ _][Pp]hrase|_PHRASE| words)?[^\n:=(]{0,24}["']?(?: is)?[:=(\s]+["'`]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b"#).check(Check::SeedWords),
];
