/** Written by `node bin/zones.ts` from the time zones of Node (tzdata 2026c). See time-zone.ts. */
export const ZONES = `
 Africa/Abidjan Africa/Accra Africa/Bamako Africa/Banjul Africa/Bissau Africa/Conakry Africa/Dakar Africa/Freetown Africa/Lome Africa/Monrovia Africa/Nouakchott Africa/Ouagadougou America/Danmarkshavn Atlantic/Reykjavik Atlantic/St_Helena Etc/UTC UTC |0|
 Africa/Addis_Ababa Africa/Asmara Africa/Asmera Africa/Dar_es_Salaam Africa/Djibouti Africa/Kampala Africa/Mogadishu Africa/Nairobi Antarctica/Syowa Asia/Aden Asia/Baghdad Asia/Bahrain Asia/Kuwait Asia/Qatar Asia/Riyadh Indian/Antananarivo Indian/Comoro Indian/Mayotte |c|
 Africa/Algiers Africa/Bangui Africa/Brazzaville Africa/Douala Africa/Kinshasa Africa/Lagos Africa/Libreville Africa/Luanda Africa/Malabo Africa/Ndjamena Africa/Niamey Africa/Porto-Novo Africa/Tunis |4|
 Africa/Blantyre Africa/Bujumbura Africa/Gaborone Africa/Harare Africa/Johannesburg Africa/Kigali Africa/Lubumbashi Africa/Lusaka Africa/Maputo Africa/Maseru Africa/Mbabane |8|
 Africa/Cairo |8|3o4o,c 36ec,8 xdo,c nac,8 14u1o,c 1amc,8 12xo,c 1q6c,8 2osho,c 5m6c,8 5m9o,c 5tyc,8 5eho,c 5tyc,8 5eho,c 5tyc,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5tyc,8 5eho,c 5tyc,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5tyc,8 5eho,c 5tyc,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5tyc,8 5eho,c 5tyc,8 5eho,c 5tyc,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5tyc,8 5eho,c 5tyc,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5tyc,8 5eho,c 5tyc,8 5eho,c 5tyc,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5m6c,8 5m9o,c 5tyc,8 5eho,c 5tyc,8 5m9o,c 5m6c,8
 Africa/Casablanca Africa/El_Aaiun |0|3qg0,4 30uc,0 7cho,4 3o6c,0 8fh0,4 2j40,0 yg0,4 19k0,0 6hc0,4 25s0,0 11s0,4 2eo0,0 4r40,4 2s00,0 12w0,4 2mg0,0 4r40,4 2dk0,0 12w0,4 30w0,0 4r40,4 25s0,0 12w0,4 3gg0,0 4jc0,4 1q80,0 1ao0,4 3o80,0 4jc0,4 1ig0,0 12w0,4 9xs0,0 12w0,4 9q00,0 1ao0,4 9q00,0 12w0,4 9q00,0 1ao0,4 9q00,0 12w0,4 9xs0,0 12w0,4 9q00,0 1ao0,4 9q00,0 12w0,4 5m6c,0
 Africa/Ceuta Arctic/Longyearbyen Europe/Amsterdam Europe/Andorra Europe/Belgrade Europe/Berlin Europe/Bratislava Europe/Brussels Europe/Budapest Europe/Busingen Europe/Copenhagen Europe/Gibraltar Europe/Ljubljana Europe/Luxembourg Europe/Madrid Europe/Malta Europe/Monaco Europe/Oslo Europe/Paris Europe/Podgorica Europe/Prague Europe/Rome Europe/San_Marino Europe/Sarajevo Europe/Skopje Europe/Stockholm Europe/Tirane Europe/Vaduz Europe/Vatican Europe/Vienna Europe/Warsaw Europe/Zagreb Europe/Zurich |4||1ju|2,p,0,3c,8|9,p,0,50,4
 Africa/Juba |c|3gyr0,8
 Africa/Khartoum |c|2gar0,8
 Africa/Sao_Tome |0|2i6po,4 b9k0,0
 Africa/Tripoli |8|w800,4 4ag0,8
 Africa/Windhoek |8|2vc0,4 4r5o,8 6hac,4 4r5o,8 6hac,4 4r5o,8 6p2c,4 4jdo,8 6p2c,4 4r5o,8 6hac,4 4r5o,8 6hac,4 4r5o,8 6hac,4 4r5o,8
 America/Adak |-14||1ju|2,8,0,3c,-10|a,1,0,3c,-14
 America/Anchorage America/Juneau America/Nome America/Sitka America/Yakutat |-10||1ju|2,8,0,3c,-w|a,1,0,3c,-10
 America/Anguilla America/Antigua America/Aruba America/Barbados America/Blanc-Sablon America/Boa_Vista America/Curacao America/Dominica America/Grenada America/Guadeloupe America/Guyana America/Kralendijk America/La_Paz America/Lower_Princes America/Manaus America/Marigot America/Martinique America/Montserrat America/Port_of_Spain America/Porto_Velho America/Puerto_Rico America/Santo_Domingo America/St_Barthelemy America/St_Kitts America/St_Lucia America/St_Thomas America/St_Vincent America/Tortola |-g|
 America/Araguaina |-c|vlx0,-8 3o6c,-c
 America/Argentina/Buenos_Aires America/Argentina/Catamarca America/Argentina/Cordoba America/Argentina/Jujuy America/Argentina/La_Rioja America/Argentina/Mendoza America/Argentina/Rio_Gallegos America/Argentina/Salta America/Argentina/San_Juan America/Argentina/San_Luis America/Argentina/Tucuman America/Argentina/Ushuaia America/Belem America/Buenos_Aires America/Catamarca America/Cayenne America/Cordoba America/Fortaleza America/Jujuy America/Maceio America/Mendoza America/Paramaribo America/Recife America/Santarem Antarctica/Rothera |-c|
 America/Asuncion |-c|3390,-g 5eho,-c 5tyc,-g 5eho,-c 5tyc,-g 5m9o,-c 56mc,-g 61to,-c 56mc,-g 61to,-c 56mc,-g 61to,-c 5eec,-g 5u1o,-c 5eec,-g 5u1o,-c 5eec,-g 61to,-c 56mc,-g 61to,-c 56mc,-g 61to,-c 5eec,-g 5u1o,-c 5eec,-g 5u1o,-c 5eec,-g 5u1o,-c 5eec,-g 61to,-c
 America/Atikokan America/Bogota America/Cayman America/Coral_Harbour America/Guayaquil America/Jamaica America/Lima America/Panama |-k|
 America/Bahia |-c|k5p0,-8 43qc,-c
 America/Bahia_Banderas |-s|2vr0,-k 6h8o,-o 4r5o,-k 6hac,-o 4r5o,-k 6hac,-o 4yxo,-k 69ic,-o 4yxo,-k 69ic,-o 4yxo,-k 69ic,-o 4yxo,-k 6hac,-o 4r5o,-k 6hac,-o 4r5o,-k 6hac,-o 4yxo,-k 69ic,-o 4yxo,-k 69ic,-o 4yxo,-k 6hac,-o 4r5o,-k 6hac,-o
 America/Belize America/Costa_Rica America/El_Salvador America/Guatemala America/Managua America/Regina America/Swift_Current America/Tegucigalpa Pacific/Galapagos |-o|
 America/Boise America/Cambridge_Bay America/Denver America/Inuvik |-s||1ju|2,8,0,3c,-o|a,1,0,3c,-s
 America/Campo_Grande America/Cuiaba |-c|1kt0,-g 7cho,-c 3vyc,-g 7cho,-c 43qc,-g 7cho,-c 3o6c,-g 7k9o,-c 3o6c,-g 7k9o,-c 3vyc,-g 7cho,-c 3vyc,-g 7cho,-c 3vyc,-g 7cho,-c 3vyc,-g 7zto,-c 38mc,-g
 America/Cancun |-o|2vpc,-k 6hac,-o 4r5o,-k 6hac,-o 4r5o,-k 6hac,-o 4yxo,-k 69ic,-o 4yxo,-k 69ic,-o 30xo,-k
 America/Caracas |-i|1zd7o,-g
 America/Chicago America/Indiana/Knox America/Indiana/Tell_City America/Matamoros America/Menominee America/North_Dakota/Center America/North_Dakota/New_Salem America/Rankin_Inlet America/Resolute America/Winnipeg |-o||1ju|2,8,0,3c,-k|a,1,0,3c,-o
 America/Chihuahua |-s|2vr0,-o 6hac,-s 4r5o,-o 6hac,-s 4r5o,-o 6hac,-s 4yxo,-o 69ic,-s 4yxo,-o 69ic,-s 4yxo,-o 69ic,-s 4yxo,-o 6hac,-s 4r5o,-o 6hac,-s 4r5o,-o 6hac,-s 4yxo,-o 69ic,-s 4yxo,-o 69ic,-s 4yxo,-o 6hac,-s 4r5o,-o
 America/Ciudad_Juarez |-s|28f0,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 43to,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 43to,-o 7cec,-s 3w1o,-o 82z0,-s|1k7|2,8,0,3c,-o|a,1,0,3c,-s
 America/Coyhaique |-c|2vh0,-g 5u1o,-c 6hac,-g 38po,-c 7ryc,-g 3w1o,-c 7cec,-g 43to,-c 74mc,-g 43to,-c j0ec,-g 2t5o,-c 8fac,-g 2t5o,-c 8fac,-g 2t5o,-c 7cec,-g 4r5o,-c 6hac,-g 4r5o,-c 6hac,-g 4r5o,-c 6hac,-g 4yxo,-c 69ic,-g 4r5o,-c 6p2c,-g 4r5o,-c
 America/Creston America/Dawson_Creek America/Hermosillo America/Phoenix |-s|
 America/Dawson America/Whitehorse |-w|28go,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 43to,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s
 America/Detroit America/Indiana/Indianapolis America/Indiana/Marengo America/Indiana/Petersburg America/Indiana/Vevay America/Indiana/Vincennes America/Indiana/Winamac America/Indianapolis America/Iqaluit America/Kentucky/Louisville America/Kentucky/Monticello America/Louisville America/Nassau America/New_York America/Toronto |-k||1ju|2,8,0,3c,-g|a,1,0,3c,-k
 America/Edmonton |-s|28f0,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 43to,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 43to,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o
 America/Eirunepe America/Rio_Branco |-g|17hqo,-k
 America/Fort_Nelson |-w|28go,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s
 America/Glace_Bay America/Halifax America/Moncton America/Thule Atlantic/Bermuda |-g||1ju|2,8,0,3c,-c|a,1,0,3c,-g
 America/Godthab America/Nuuk |-c|2nlo,-8 6p40,-c 4jc0,-8 6p40,-c 4jc0,-8 6p40,-c 4r40,-8 6hc0,-c 4r40,-8 6hc0,-c 4r40,-8 6hc0,-c 4r40,-8 6p40,-c 4jc0,-8 6p40,-c 4jc0,-8 6p40,-c 4r40,-8 6hc0,-c 4r40,-8 6hc0,-c 4r40,-8 6p40,-c 4jc0,-8 6p40,-c 4jc0,-8|1k8|2,o,6,12c,-4|9,p,0,0,-8
 America/Goose_Bay |-g|286p,-c 7cec,-g 3w1o,-c 7chn,-g|1jw|2,8,0,3c,-c|a,1,0,3c,-g
 America/Grand_Turk |-k|28bo,-g 7cec,-k 3w1o,-g 7cec,-k 3w1o,-g 7cec,-k 3w1o,-g 7cec,-k 3w1o,-g 7cec,-k 3w1o,-g 159ic,-k|1k3|2,8,0,3c,-g|a,1,0,3c,-k
 America/Havana |-k|288c,-g 74o0,-k 4bk0,-g 7cg0,-k 4bk0,-g 6p40,-k|1jx|2,8,0,0,-g|a,1,0,1o,-k
 America/Los_Angeles America/Tijuana |-w||1ju|2,8,0,3c,-s|a,1,0,3c,-w
 America/Mazatlan |-s|2vr0,-o 6hac,-s 4r5o,-o 6hac,-s 4r5o,-o 6hac,-s 4yxo,-o 69ic,-s 4yxo,-o 69ic,-s 4yxo,-o 69ic,-s 4yxo,-o 6hac,-s 4r5o,-o 6hac,-s 4r5o,-o 6hac,-s 4yxo,-o 69ic,-s 4yxo,-o 69ic,-s 4yxo,-o 6hac,-s 4r5o,-o 6hac,-s
 America/Merida America/Mexico_City America/Monterrey |-o|2vpc,-k 6hac,-o 4r5o,-k 6hac,-o 4r5o,-k 6hac,-o 4yxo,-k 69ic,-o 4yxo,-k 69ic,-o 4yxo,-k 69ic,-o 4yxo,-k 6hac,-o 4r5o,-k 6hac,-o 4r5o,-k 6hac,-o 4yxo,-k 69ic,-o 4yxo,-k 69ic,-o 4yxo,-k 6hac,-o 4r5o,-k 6hac,-o
 America/Metlakatla |-w|1tr4o,-10 43to,-w 7cec,-10 3w1o,-w 7cec,-10 3w1o,-w 9pyc,-10|1k3|2,8,0,3c,-w|a,1,0,3c,-10
 America/Miquelon |-c||1ju|2,8,0,3c,-8|a,1,0,3c,-c
 America/Montevideo |-8|286o,-c 69lo,-8 4yuc,-c 69lo,-8 4yuc,-c 6hdo,-8 4r2c,-c 6hdo,-8 4r2c,-c 6hdo,-8 4r2c,-c
 America/Noronha Atlantic/South_Georgia |-8|
 America/North_Dakota/Beulah |-s|28f0,-o|1jv|2,8,0,3c,-k|a,1,0,3c,-o
 America/Ojinaga |-s|28f0,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 43to,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 3w1o,-o 7cec,-s 43to,-o 7cec,-s 3w1o,-o|1k7|2,8,0,3c,-k|a,1,0,3c,-o
 America/Port-au-Prince |-k||1jw|2,8,0,3c,-g|a,1,0,3c,-k
 America/Punta_Arenas Antarctica/Palmer |-c|2vh0,-g 5u1o,-c 6hac,-g 38po,-c 7ryc,-g 3w1o,-c 7cec,-g 43to,-c 74mc,-g 43to,-c j0ec,-g 2t5o,-c
 America/Santiago |-c|2vh0,-g 5u1o,-c 6hac,-g 38po,-c 7ryc,-g 3w1o,-c 7cec,-g 43to,-c 74mc,-g 43to,-c j0ec,-g 2t5o,-c 8fac,-g 2t5o,-c 8fac,-g 2t5o,-c 7cec,-g 4r5o,-c 6hac,-g 4r5o,-c 6hac,-g 4r5o,-c 6hac,-g 4yxo,-c|1k7|3,2,0,0,-g|8,2,0,0,-c
 America/Sao_Paulo |-8|1krc,-c 7cho,-8 3vyc,-c 7cho,-8 43qc,-c 7cho,-8 3o6c,-c 7k9o,-8 3o6c,-c 7k9o,-8 3vyc,-c 7cho,-8 3vyc,-c 7cho,-8 3vyc,-c 7cho,-8 3vyc,-c 7zto,-8 38mc,-c
 America/Scoresbysund |-4|2nlo,0 6p40,-4 4jc0,0 6p40,-4 4jc0,0 6p40,-4 4r40,0 6hc0,-4 4r40,0 6hc0,-4 4r40,0 6hc0,-4 4r40,0 6p40,-4 4jc0,0 6p40,-4 4jc0,0 6p40,-4 4r40,0 6hc0,-4 4r40,0 6hc0,-4 4r40,0 6p40,-4 4jc0,0 6p40,-4 4jc0,0 6p40,-4 b8g0,-8|1k9|2,o,6,12c,-4|9,p,0,0,-8
 America/St_Johns |-e|285v,-a 7cec,-e 3w1o,-a 7chn,-e|1jw|2,8,0,3c,-a|a,1,0,3c,-e
 America/Vancouver |-w|28go,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 43to,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 43to,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s 7cec,-w 3w1o,-s
 Antarctica/Casey |18|1xl0,w il10,18 3lyc,w 1glac,18 fl5o,w 6hh0,18 4ypc,w 67h0,18 4t70,w 6hc1,18 4yqz,w 69p1,18 4yqz,w 69p1,18 4vjz,w
 Antarctica/Davis |k|24hc,s ie6c,k 3m1o,s
 Antarctica/DumontDUrville Australia/Brisbane Australia/Lindeman Pacific/Chuuk Pacific/Guam Pacific/Port_Moresby Pacific/Saipan Pacific/Truk |14|
 Antarctica/Macquarie |18||1jv|3,1,0,50,14|9,1,0,3c,18
 Antarctica/Mawson Asia/Aqtau Asia/Aqtobe Asia/Ashgabat Asia/Atyrau Asia/Dushanbe Asia/Karachi Asia/Oral Asia/Samarkand Asia/Tashkent Indian/Kerguelen Indian/Maldives |k|
 Antarctica/McMurdo Pacific/Auckland |1g||1ju|3,1,0,50,1c|8,o,0,3c,1g
 Antarctica/Troll |0||1ju|2,p,0,1o,8|9,p,0,50,0
 Antarctica/Vostok |s|4ddbo,k
 Asia/Almaty Asia/Qostanay |o|4fni0,k
 Asia/Amman |8|2l8o,c 6p40,8 4r40,c 6hc0,8 4r40,c jfyc,8 30xo,c 6p40,8 4jc0,c 6p40,8 4r40,c 6hc0,8 4r40,c 6hc0,8 4r40,c 6hc0,8 4r40,c 6hc0,8 4r40,c 6p40,8 4jc0,c 6p40,8 3o80,c
 Asia/Anadyr Asia/Kamchatka |1c|9c90,18 4jc0,1c
 Asia/Baku |g|2nk0,k 6p40,g 4jc0,k 6p40,g 4jc0,k 6p40,g 4r40,k 6hc0,g 4r40,k 6hc0,g 4r40,k 6hc0,g
 Asia/Bangkok Asia/Ho_Chi_Minh Asia/Jakarta Asia/Phnom_Penh Asia/Pontianak Asia/Saigon Asia/Vientiane Indian/Christmas |s|
 Asia/Barnaul |o|2ndc,s 6p40,o 4jc0,s 14eec,o fzlo,s
 Asia/Beirut |8||1ju|2,p,0,0,c|9,p,0,0,8
 Asia/Bishkek Asia/Dhaka Asia/Thimphu Asia/Urumqi Indian/Chagos |o|
 Asia/Brunei Asia/Hong_Kong Asia/Kuala_Lumpur Asia/Kuching Asia/Macau Asia/Makassar Asia/Manila Asia/Shanghai Asia/Singapore Asia/Taipei Australia/Perth |w|
 Asia/Calcutta Asia/Colombo Asia/Kolkata |m|
 Asia/Chita |10|2n8c,14 6p40,10 4jc0,14 14eec,w fznc,10
 Asia/Damascus |8|2t0o,c 6hac,8 4r5o,c 6hac,8 4r5o,c 6hac,8 4r5o,c 6hac,8 4r5o,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4r5o,c 6hac,8 4r5o,c 6hac,8 4r5o,c 6hac,8 4r5o,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c
 Asia/Dili Asia/Jayapura Asia/Seoul Asia/Tokyo Pacific/Palau |10|
 Asia/Dubai Asia/Muscat Asia/Tbilisi Indian/Mahe Indian/Mauritius Indian/Reunion |g|
 Asia/Famagusta |8|2nlo,c 6p40,8 4jc0,c 6p40,8 4jc0,c 6p40,8 4r40,c 6hc0,8 4r40,c 6hc0,8 4r40,c 6hc0,8 4r40,c hxk0,8|1k2|2,p,0,50,c|9,p,0,6o,8
 Asia/Gaza |8|2mcp,c 486b,8 76xp,c 3rib,8 7gxo,c 5eg0,8 5u00,c 5m6c,8 5m9o,c 6hac,8 4s9o,c 6g80,8 4s9o,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4q00,c 6iec,8 4r5o,c 6hc0,8 4r40,c 6o00,8 4lk0,c 6o1o,8 5m9o,c 5m6c,8 5eho,c 5tyc,8 56po,c 61qc,8 4r5o,c 6hac,8 4r5o,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4r5o,c 6hac,8 4r5o,c 6hac,8 4r5o,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4r5o,c 69ic,8 4yxo,c 61qc,8 56po,c 5m6c,8 5m9o,c 5eec,8 5u1o,c 4yuc,8 1iho,c 7qc,8 4r5o,c 4jac,8 1apo,c nac,8 4r5o,c 4bic,8 1apo,c v2c,8 4r5o,c 3vyc,8 1iho,c 12uc,8 4r5o,c 3o6c,8 1apo,c 1q6c,8 4jdo,c 3gec,8 1apo,c 1xyc,8 4jdo,c 30uc,8 1iho,c 25qc,8 4r5o,c 2lac,8 1apo,c 2lac,8 4r5o,c 25qc,8 1iho,c 2t2c,8 4r5o,c 1xyc,8 1apo,c 3gec,8 4jdo,c 1q6c,8 1apo,c 3o6c,8 4jdo,c 1amc,8 1iho,c 3vyc,8 4r5o,c v2c,8 1apo,c 4bic,8 4r5o,c fic,8 1iho,c 4jac,8 4r5o,c 7qc,8 1iho,c 4r2c,8 61to,c 5eec,8 5m9o,c 5m6c,8 56po,c 61qc,8 4yxo,c 69ic,8 4r5o,c 6hac,8 4r5o,c 6p2c,8
 Asia/Hebron |8|2l8o,c 49ac,8 76xp,c 3rib,8 w9o,c yec,8 5m9o,c 5eg0,8 5u00,c 5m6c,8 5m9o,c 6hac,8 4s9o,c 6g80,8 4s9o,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4q00,c 6iec,8 4r5o,c 6hc0,8 4r40,c 6o00,8 4lk0,c 6o1o,8 5m9o,c 5m6c,8 5eho,c 5tyc,8 56po,c 61qc,8 4r5o,c 6hac,8 4r5o,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4r5o,c 6hac,8 4r5o,c 6hac,8 4r5o,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4jdo,c 6p2c,8 4r5o,c 69ic,8 4yxo,c 61qc,8 56po,c 5m6c,8 5m9o,c 5eec,8 5u1o,c 4yuc,8 1iho,c 7qc,8 4r5o,c 4jac,8 1apo,c nac,8 4r5o,c 4bic,8 1apo,c v2c,8 4r5o,c 3vyc,8 1iho,c 12uc,8 4r5o,c 3o6c,8 1apo,c 1q6c,8 4jdo,c 3gec,8 1apo,c 1xyc,8 4jdo,c 30uc,8 1iho,c 25qc,8 4r5o,c 2lac,8 1apo,c 2lac,8 4r5o,c 25qc,8 1iho,c 2t2c,8 4r5o,c 1xyc,8 1apo,c 3gec,8 4jdo,c 1q6c,8 1apo,c 3o6c,8 4jdo,c 1amc,8 1iho,c 3vyc,8 4r5o,c v2c,8 1apo,c 4bic,8 4r5o,c fic,8 1iho,c 4jac,8 4r5o,c 7qc,8 1iho,c 4r2c,8 61to,c 5eec,8 5m9o,c 5m6c,8 56po,c 61qc,8 4yxo,c 69ic,8 4r5o,c 6hac,8 4r5o,c 6p2c,8
 Asia/Hovd |s|1n07o,w 5m30,s 5md0,w 5m30,s
 Asia/Irkutsk |w|2na0,10 6p40,w 4jc0,10 14eec,w
 Asia/Jerusalem |8|2lc0,c 58uc,8 67do,c 5oec,8 5k1o,c 5gmc,8|1jx|2,n,5,3c,c|9,p,0,3c,8
 Asia/Kabul |i|
 Asia/Kathmandu Asia/Katmandu |n|
 Asia/Khandyga |14|2n6o,18 6p40,14 4jc0,18 58r0,14 z5p0,10
 Asia/Krasnoyarsk |s|2nbo,w 6p40,s 4jc0,w 14eec,s
 Asia/Magadan |18|2n50,1c 6p40,18 4jc0,1c 14eec,14 gurc,18
 Asia/Nicosia Europe/Athens Europe/Bucharest Europe/Helsinki Europe/Kiev Europe/Kyiv Europe/Mariehamn Europe/Riga Europe/Sofia Europe/Tallinn Europe/Vilnius |8||1ju|2,p,0,50,c|9,p,0,6o,8
 Asia/Novokuznetsk |s|9chc,o 4jc0,s
 Asia/Novosibirsk |o|2ndc,s 6p40,o 4jc0,s 14eec,o jnto,s
 Asia/Omsk |o|2ndc,s 6p40,o 4jc0,s 14eec,o
 Asia/Pyongyang |10|1rbl0,y uog0,10
 Asia/Qyzylorda |o|2t3q0,k
 Asia/Rangoon Asia/Yangon Indian/Cocos |q|
 Asia/Sakhalin |14|2n6o,18 6p40,14 4jc0,18 14eec,14 fzlo,18
 Asia/Srednekolymsk |18|2n50,1c 6p40,18 4jc0,1c 14eec,18
 Asia/Tehran |e|2gq6,i 5oec,e 5l5o,i 5oec,e 5l5o,i 5oec,e 5m9o,i 5oec,e 5l5o,i 5oec,e 5l5o,i 5oec,e 5l5o,i 5oec,e 5m9o,i 5oec,e 5l5o,i 5oec,e 5l5o,i 5oec,e 5l5o,i 5oec,e 5m9o,i 5oec,e 5l5o,i 5oec,e
 Asia/Tomsk |o|2ndc,s 6p40,o 4jc0,s 14eec,o hxlo,s
 Asia/Ulaanbaatar |w|1n060,10 5m30,w 5md0,10 5m30,w
 Asia/Ust-Nera |18|2n50,1c 6p40,18 4jc0,1c 58r0,18 z5p0,14
 Asia/Vladivostok |14|2n6o,18 6p40,14 4jc0,18 14eec,14
 Asia/Yakutsk |10|2n8c,14 6p40,10 4jc0,14 14eec,10
 Asia/Yekaterinburg |k|2nf0,o 6p40,k 4jc0,o 14eec,k
 Asia/Yerevan |g|2ngo,k 6p40,g 4jc0,k 6p40,g
 Atlantic/Azores |-4||1ju|2,p,0,0,0|9,p,0,1o,-4
 Atlantic/Canary Atlantic/Faeroe Atlantic/Faroe Atlantic/Madeira Europe/Dublin Europe/Guernsey Europe/Isle_of_Man Europe/Jersey Europe/Lisbon Europe/London |0||1ju|2,p,0,1o,4|9,p,0,3c,0
 Atlantic/Cape_Verde |-4|
 Atlantic/Stanley |-c|3b4c,-g 4blo,-c
 Australia/Adelaide Australia/Broken_Hill |16||1ju|3,1,0,50,12|9,1,0,3c,16
 Australia/Darwin |12|
 Australia/Eucla |z|
 Australia/Hobart Australia/Melbourne Australia/Sydney |18||1ju|3,1,0,50,14|9,1,0,3c,18
 Australia/Lord_Howe |18||1ju|3,1,0,3c,16|9,1,0,3c,18
 Europe/Astrakhan Europe/Ulyanovsk |c|2nic,g 6p40,c 4jc0,g 14eec,c fzlo,g
 Europe/Chisinau |8|2nk0,c 6p40,8 4jc0,c 6p40,8 4jc0,c 6p40,8 4r40,c 6hc0,8 4r40,c 6hc0,8 4r40,c 6hc0,8 4r40,c 6p40,8 4jc0,c 6p40,8 4jc0,c 6p40,8 4r40,c 6hc0,8 4r40,c 6hc0,8 4r40,c 6p40,8|1k6|2,p,0,50,c|9,p,0,6o,8
 Europe/Istanbul |8|2nlo,c 6p40,8 4kg0,c 6o00,8 4jc0,c 6p40,8 4r40,c 6hc0,8 4s80,c 6g80,8 4r40,c 6ww0,8 4bk0,c
 Europe/Kaliningrad |8|2nk0,c 6p40,8 4jc0,c 14eec,8
 Europe/Kirov Europe/Moscow |c|2nic,g 6p40,c 4jc0,g 14eec,c
 Europe/Minsk |8|2nk0,c 6p40,8 4jc0,c
 Europe/Samara |g|9cmc,c 4jc0,g
 Europe/Saratov |c|2nic,g 6p40,c 4jc0,g 14eec,c nrlo,g
 Europe/Simferopol |8|2nlo,c 6p40,8 4jc0,c 6p40,8 4jc0,c 6p40,8 4r40,c 6hc0,8 4r2c,g 6h8o,c
 Europe/Volgograd |c|2nic,g 6p40,c 4jc0,g 14eec,c 195lo,g oeuc,c
 Pacific/Apia |-18|8aac,-14 5t10,-18 5eg0,-14 2zlc,1k 2ueo,1g 5m80,1k 5u00,1g 5eg0,1k 5u00,1g 5eg0,1k 5u00,1g 5eg0,1k 5u00,1g 5eg0,1k 5u00,1g 5eg0,1k 5u00,1g 5m80,1k 5u00,1g 5eg0,1k 5u00,1g 5eg0,1k 5u00,1g
 Pacific/Bougainville |14|1k82o,18
 Pacific/Chatham |1j||1ju|3,1,0,69,1f|8,o,0,4l,1j
 Pacific/Easter |-k|2vh0,-o 5u1o,-k 6hac,-o 38po,-k 7ryc,-o 3w1o,-k 7cec,-o 43to,-k 74mc,-o 43to,-k j0ec,-o 2t5o,-k 8fac,-o 2t5o,-k 8fac,-o 2t5o,-k 7cec,-o 4r5o,-k 6hac,-o 4r5o,-k 6hac,-o 4r5o,-k 6hac,-o 4yxo,-k|1k7|3,1,6,10o,-o|8,1,6,10o,-k
 Pacific/Efate Pacific/Guadalcanal Pacific/Kosrae Pacific/Noumea Pacific/Pohnpei Pacific/Ponape |18|
 Pacific/Enderbury Pacific/Kanton |1g|
 Pacific/Fakaofo |-18|mhec,1g
 Pacific/Fiji |1g|2n3c,1c 6hc0,1g 43s0,1c 74o0,1g 2t40,1c 8fc0,1g 2t40,1c 8n40,1g 2lac,1c 8uxo,1g 2dk0,1c 8uw0,1g 2dk0,1c 92o0,1g 25s0,1c 92o0,1g 25s0,1c 92o0,1g 25s0,1c 9ag0,1g 1y00,1c al40,1g v40,1c
 Pacific/Funafuti Pacific/Kwajalein Pacific/Majuro Pacific/Nauru Pacific/Tarawa Pacific/Wake Pacific/Wallis |1c|
 Pacific/Gambier |-10|
 Pacific/Honolulu Pacific/Rarotonga Pacific/Tahiti |-14|
 Pacific/Kiritimati |1k|
 Pacific/Marquesas |-12|
 Pacific/Midway Pacific/Niue Pacific/Pago_Pago |-18|
 Pacific/Norfolk |1a|1sv46,18 195ku,1c|1k4|3,1,0,50,18|9,1,0,3c,1c
 Pacific/Pitcairn |-w|
 Pacific/Tongatapu |1g|256do,1k 25s0,1g
`
