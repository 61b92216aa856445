"""One sentence in many scripts, with the legacy encodings it is found in; Article 1 of the UDHR, public domain."""

from __future__ import annotations

RUSSIAN = (
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны "
    "поступать в отношении друг друга в духе братства."
)
UKRAINIAN = (
    "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні "
    "діяти у відношенні один до одного в дусі братерства."
)
JAPANESE = (
    "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられて"
    "おり、互いに同胞の精神をもって行動しなければならない。"
)
CHINESE = "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
TAIWANESE = "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神互相對待。"
KOREAN = (
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 "
    "서로 형제애의 정신으로 행동하여야 한다."
)
GREEK = (
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική "
    "και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης."
)
HEBREW = (
    "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו "
    "ברוח של אחווה."
)
ARABIC = (
    "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء."
)
THAI = "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ"
TURKISH = (
    "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine "
    "karşı kardeşlik zihniyeti ile hareket etmelidirler."
)
POLISH = (
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i "
    "sumieniem i powinni postępować wobec innych w duchu braterstwa."
)
CZECH = (
    "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu "
    "jednat v duchu bratrství."
)
HUNGARIAN = (
    "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel "
    "bírván, egymással szemben testvéri szellemben kell hogy viseltessenek."
)
FRENCH = (
    "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
    "conscience et doivent agir les uns envers les autres dans un esprit de fraternité."
)
GERMAN = (
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und "
    "sollen einander im Geist der Brüderlichkeit begegnen."
)
SPANISH = (
    "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y "
    "conciencia, deben comportarse fraternalmente los unos con los otros."
)
SWEDISH = (
    "Alla människor är födda fria och lika i värde och rättigheter. De är utrustade med förnuft och samvete och bör "
    "handla gentemot varandra i en anda av broderskap."
)
ENGLISH = "The café’s owner said “it’s naïve” — and charged £5 for it. Nothing else here is outside ASCII at all."

# Text and Python's name of the legacy encoding, as pages without any declaration have been seen to use them.
UNLABELLED = (
    (RUSSIAN, "windows-1251"),
    (RUSSIAN, "koi8-r"),
    (RUSSIAN, "cp866"),
    (UKRAINIAN, "windows-1251"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc-jp"),
    (JAPANESE, "iso-2022-jp"),
    (CHINESE, "gb18030"),
    (TAIWANESE, "big5"),
    (KOREAN, "euc-kr"),
    (GREEK, "windows-1253"),
    (HEBREW, "windows-1255"),
    (ARABIC, "windows-1256"),
    (THAI, "cp874"),
    (TURKISH, "windows-1254"),
    (POLISH, "windows-1250"),
    (POLISH, "iso-8859-2"),
    (CZECH, "windows-1250"),
    (CZECH, "iso-8859-2"),
    (HUNGARIAN, "windows-1250"),
    (FRENCH, "windows-1252"),
    (GERMAN, "windows-1252"),
    (SPANISH, "windows-1252"),
    (SWEDISH, "windows-1252"),
    (ENGLISH, "windows-1252"),
)
