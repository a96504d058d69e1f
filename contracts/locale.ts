import { z } from "zod";

/** Every locale code that a till can contain: a language that devices offer, and a region. */
const locales =
  "af_NA af_ZA am_ET ar_AE ar_BH ar_DJ ar_DZ ar_EG ar_EH ar_ER ar_IL ar_IQ ar_JO ar_KM ar_KW ar_LB ar_LY ar_MA " +
  "ar_MR ar_OM ar_PS ar_QA ar_SA ar_SD ar_SO ar_SS ar_SY ar_TD ar_TN ar_YE az_AZ be_BY bg_BG bn_BD bn_IN br_FR " +
  "bs_BA ca_AD ca_ES ca_FR ca_IT co_FR cs_CZ cy_GB da_DK da_GL de_AT de_BE de_CH de_DE de_FR de_IT de_LI de_LU " +
  "el_CY el_GR en_AE en_AG en_AI en_AL en_AR en_AS en_AT en_AU en_BB en_BE en_BG en_BI en_BM en_BN en_BR en_BS " +
  "en_BW en_BZ en_CA en_CC en_CH en_CK en_CL en_CM en_CN en_CO en_CR en_CX en_CY en_CZ en_DE en_DG en_DK en_DM " +
  "en_EC en_EE en_EG en_ER en_ES en_FI en_FJ en_FK en_FM en_FR en_GB en_GD en_GE en_GG en_GH en_GI en_GM en_GR " +
  "en_GU en_GY en_HK en_HR en_HU en_ID en_IE en_IL en_IM en_IN en_IO en_IS en_IT en_JE en_JM en_JO en_JP en_KE " +
  "en_KI en_KN en_KR en_KW en_KY en_LB en_LC en_LK en_LR en_LS en_LT en_LU en_LV en_MA en_MC en_MG en_MH en_MO " +
  "en_MP en_MS en_MT en_MU en_MV en_MW en_MX en_MY en_NA en_NF en_NG en_NL en_NO en_NR en_NU en_NZ en_OM en_PG " +
  "en_PH en_PK en_PL en_PN en_PR en_PT en_PW en_QA en_RE en_RO en_RS en_RU en_RW en_SA en_SB en_SC en_SD en_SE " +
  "en_SG en_SH en_SI en_SK en_SL en_SS en_SX en_SZ en_TC en_TH en_TK en_TN en_TO en_TR en_TT en_TV en_TW en_TZ " +
  "en_UA en_UG en_UM en_US en_VC en_VG en_VI en_VN en_VU en_WS en_ZA en_ZM en_ZW es_AD es_AR es_BO es_BR es_BZ " +
  "es_CL es_CO es_CR es_CU es_DO es_EA es_EC es_ES es_FR es_GQ es_GT es_HN es_IC es_MX es_NI es_PA es_PE es_PH " +
  "es_PR es_PY es_SV es_US es_UY es_VE et_EE eu_ES eu_FR fa_AF fa_IR fi_FI fil_PH fo_DK fo_FO fr_AD fr_BE fr_BF " +
  "fr_BI fr_BJ fr_BL fr_CA fr_CD fr_CF fr_CG fr_CH fr_CI fr_CM fr_DJ fr_DZ fr_ES fr_FR fr_GA fr_GB fr_GF fr_GN " +
  "fr_GP fr_GQ fr_HT fr_IT fr_KM fr_LU fr_MA fr_MC fr_MF fr_MG fr_ML fr_MQ fr_MR fr_MU fr_NC fr_NE fr_NL fr_PF " +
  "fr_PM fr_PT fr_RE fr_RW fr_SC fr_SN fr_SY fr_TD fr_TG fr_TN fr_US fr_VU fr_WF fr_YT fy_NL ga_GB ga_IE gd_GB " +
  "gl_ES gsw_CH gsw_FR gsw_LI gu_IN ha_GH ha_NE ha_NG he_IL hi_IN hr_BA hr_HR hu_HU hy_AM id_ID is_IS it_CH it_FR " +
  "it_IT it_MC it_SM it_VA ja_JP ka_GE kk_KZ km_KH kn_IN ko_KP ko_KR ky_KG lb_LU lo_LA lt_LT lv_LV mg_MG mk_MK " +
  "ml_IN mn_MN mr_IN ms_BN ms_ID ms_MY ms_SG mt_MT my_MM nb_NO nb_SJ ne_IN ne_NP nl_AW nl_BE nl_BQ nl_CW nl_FR " +
  "nl_NL nl_SR nl_SX nn_NO no_NO oc_ES oc_FR or_IN pa_IN pa_PK pl_PL ps_AF ps_PK pt_AO pt_BR pt_CH pt_CV pt_FR " +
  "pt_GQ pt_GW pt_LU pt_MO pt_MZ pt_PT pt_ST pt_TL rm_CH ro_MD ro_RO ru_BY ru_KG ru_KZ ru_MD ru_RU ru_UA rw_RW " +
  "se_FI se_NO se_SE si_LK sk_SK sl_SI so_DJ so_ET so_KE so_SO sq_AL sq_MK sq_XK sr_BA sr_ME sr_RS sr_XK sv_AX " +
  "sv_FI sv_SE sw_CD sw_KE sw_TZ sw_UG ta_IN ta_LK ta_MY ta_SG te_IN tg_TJ th_TH tk_TM tr_CY tr_TR uk_UA ur_IN " +
  "ur_PK uz_UZ vi_VN wo_SN yo_BJ yo_NG zh_CN zh_HK zh_MO zh_SG zh_TW zu_ZA";

export const LocaleCode = z
  .enum(locales.split(" "), "Must be a locale such as fr_FR or en_GB")
  .meta({ id: "Locale", description: "Locale code, which consists of a language and a region", example: "fr_FR" });
